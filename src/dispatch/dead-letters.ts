/**
 * Dead letters: events that are no longer attempted. They are BullMQ's failed jobs. A dead letter has left its ordering
 * group; when it is retried it goes to the end of the group and runs when no other event of its record does. A held one
 * (`whenDead: 'hold'`) is still the head of its group: when it is retried it runs there, and when it is dropped the next
 * event runs.
 */
import type { Job, Queue } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import { compareLogIds } from '../events/log-id.js';
import type { ChangeEvent } from '../events/types.js';
import { isoTime } from '../runtime/clock.js';
import { parseFailedAttempt, type FailedAttempt } from './failure.js';
import { historyOf, lifeOf } from './job-history.js';
import { promoteUntried } from './delayed-jobs.js';
import type { Delivery, RecordGate } from './ports.js';
import { entryOf, type Queues } from './queues.js';

export interface DeadLetter {
  /** The event's id, followed by `.r…` when a replay sent it. One event can be a dead letter of several subscriptions. */
  id: string;
  subscription: string;
  workspace: string;
  logId: string;
  /** The message of the last failure, shortened. */
  reason: string;
  /** ISO 8601. */
  diedAt: string;
  /** The failed attempts, oldest first; at most the newest 20. */
  attempts: readonly FailedAttempt[];
  event: ChangeEvent;
  /** Sent by a replay. */
  replay: boolean;
}

export interface DeadLetterFilter {
  /** @defaultValue all subscriptions */
  subscription?: string;
  /** Event ids. @defaultValue all events */
  ids?: readonly string[];
}

export interface ListOptions extends DeadLetterFilter {
  /** The largest number returned, newest first. @defaultValue 100 */
  limit?: number;
}

export class DeadLetters {
  readonly #queues: Queues;
  readonly #gate: Pick<RecordGate, 'drop' | 'reenter'>;

  constructor(queues: Queues, gate: Pick<RecordGate, 'drop' | 'reenter'>) {
    this.#queues = queues;
    this.#gate = gate;
  }

  /** Newest first. */
  async list({ limit = 100, ...filter }: ListOptions = {}): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    for (const [subscription, queue] of this.#chosen(filter)) {
      const jobs = filter.ids === undefined ? await failedJobs(queue, 0, limit - 1) : await jobsById(queue, filter.ids);
      for (const job of jobs) found.push(toDeadLetter(subscription, job));
    }
    return found.toSorted((a, b) => b.diedAt.localeCompare(a.diedAt)).slice(0, limit);
  }

  /** The dead letters of one event: at most one per subscription. */
  show(id: string, filter: Pick<DeadLetterFilter, 'subscription'> = {}): Promise<DeadLetter[]> {
    return this.list({ ...filter, ids: [id] });
  }

  async count({ subscription }: Pick<DeadLetterFilter, 'subscription'> = {}): Promise<number> {
    const counts = this.#chosen({ subscription }).map(([, queue]) => queue.getFailedCount());
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** Queues them again, with as many attempts as a new event has. Returns how many. */
  retry(filter: DeadLetterFilter = {}): Promise<number> {
    return this.#each(filter, async (job, queue) => {
      await job.retry('failed');
      // Each gets its position before the next is retried, because a worker may take them in any order. After a crash in
      // between, the worker gives it a position. In the other order, a crash would leave its group waiting for a job that
      // was not retried.
      const entry = entryOf(job.data);
      // A job without a recorded death would not know that it has this position.
      if (entry.group === null || !historyOf(job).retried) return;
      await this.#gate.reenter(queue.name, entry, { token: null, life: lifeOf(job) });
    });
  }

  /** Deletes them. Returns how many. */
  drop(filter: DeadLetterFilter = {}): Promise<number> {
    return this.#each(filter, async (job, queue) => {
      // The group first: in the other order, a crash in between would leave the group waiting for a deleted job.
      const { next } = await this.#gate.drop(queue.name, entryOf(job.data));
      await job.remove();
      if (next !== null) await promoteUntried(queue, next);
    });
  }

  #chosen({ subscription }: { subscription?: string | undefined }): [string, Queue<Delivery>][] {
    return subscription === undefined ? [...this.#queues.all] : [[subscription, this.#queues.of(subscription)]];
  }

  async #each(
    filter: DeadLetterFilter,
    act: (job: Job<Delivery>, queue: Queue<Delivery>) => Promise<unknown>,
  ): Promise<number> {
    let done = 0;
    for (const [, queue] of this.#chosen(filter)) {
      const actOn = (job: Job<Delivery>): Promise<unknown> => act(job, queue);
      if (filter.ids !== undefined) done += await eachOf(await jobsById(queue, filter.ids), actOn);
      else done += await eachFailed(queue, actOn);
    }
    return done;
  }
}

type Act = (job: Job<Delivery>) => Promise<unknown>;

const CHUNK = 200;

/** Acts on the dead letters that exist when it starts. One that becomes a dead letter again meanwhile is not taken twice. */
async function eachFailed(queue: Queue<Delivery>, act: Act): Promise<number> {
  let left = await queue.getFailedCount();
  let done = 0;
  while (left > 0) {
    const jobs = inOrderOfDeath(await failedJobs(queue, 0, Math.min(CHUNK, left) - 1, { oldestFirst: true }));
    const acted = await eachOf(jobs, act);
    // Another process took the rest.
    if (acted === 0) return done;
    done += acted;
    left -= jobs.length;
  }
  return done;
}

/** BullMQ orders the jobs of one millisecond by id. Of one record, the first in the log died first. */
function inOrderOfDeath(jobs: readonly Job<Delivery>[]): Job<Delivery>[] {
  const diedAt = ({ finishedOn = 0 }: Job<Delivery>): number => finishedOn;
  const sorted = jobs.toSorted((a, b) => diedAt(a) - diedAt(b) || compareLogIds(a.data.logId, b.data.logId));
  if (jobs.length < CHUNK) return sorted;
  // The next chunk may contain more jobs of the last millisecond, so those are left for it.
  const [latest] = sorted.slice(-1).map(diedAt);
  const complete = sorted.filter((job) => diedAt(job) !== latest);
  return complete.length === 0 ? sorted : complete;
}

/** One by one, in the order given, so that retried dead letters of one record keep the order in which they died. */
async function eachOf(jobs: readonly Job<Delivery>[], act: Act): Promise<number> {
  let done = 0;
  for (const job of jobs) {
    try {
      await act(job);
      done += 1;
    } catch (error) {
      // Otherwise another process has retried, dropped or expired it since it was listed.
      if (await job.isFailed()) throw error;
    }
  }
  return done;
}

async function failedJobs(
  queue: Queue<Delivery>,
  start: number,
  end: number,
  { oldestFirst = false }: { oldestFirst?: boolean } = {},
): Promise<Job<Delivery>[]> {
  const jobs = (await queue.getJobs(['failed'], start, end, oldestFirst)) as (Job<Delivery> | undefined)[];
  return jobs.filter((job) => job !== undefined);
}

async function jobsById(queue: Queue<Delivery>, ids: readonly string[]): Promise<Job<Delivery>[]> {
  const jobs = await Promise.all(ids.map((id) => queue.getJob(id) as Promise<Job<Delivery> | undefined>));
  const present = jobs.filter((job) => job !== undefined);
  const failed = await Promise.all(present.map((job) => job.isFailed()));
  return present.filter((_, index) => failed[index]);
}

function toDeadLetter(subscription: string, job: Job<Delivery>): DeadLetter {
  if (job.id === undefined) throw new ChangefeedError('CF_INTERNAL', { message: 'A dead letter has no id.' });
  const { event, workspace, logId, replay } = job.data;
  return {
    id: job.id,
    subscription,
    workspace,
    logId,
    reason: job.failedReason,
    diedAt: isoTime(job.finishedOn ?? job.timestamp),
    attempts: (job.stacktrace ?? []).flatMap((text) => parseFailedAttempt(text) ?? []),
    event,
    replay: replay !== undefined,
  };
}
