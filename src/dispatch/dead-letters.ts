/**
 * Dead letters: events whose handling was given up. BullMQ's set of failed jobs is the store. A dead letter has left its
 * record's lane; when it is tried again it goes to the end of it, and runs when nothing else of its record does. One that
 * is held (`whenDead: 'hold'`) still stands at the head of its lane: retried it runs there, dropped it lets the others go.
 */
import type { Job, Queue } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import { compareLogIds } from '../events/log-id.js';
import type { ChangeEvent } from '../events/types.js';
import { isoTime } from '../runtime/clock.js';
import { parseFailedAttempt, type FailedAttempt } from './failure.js';
import { historyOf, lifeOf } from './job-history.js';
import { promoteParked } from './delayed-jobs.js';
import type { Delivery, RecordGate } from './ports.js';
import { entryOf } from './queue-layout.js';
import type { Queues } from './queues.js';

export interface DeadLetter {
  /** The event's id, with `.r…` behind it when a replay sent it. One event may be a dead letter of several subscriptions. */
  id: string;
  subscription: string;
  workspace: string;
  logId: string;
  /** Why: the message of the last failure, shortened. */
  reason: string;
  /** ISO 8601. */
  diedAt: string;
  /** Every failed try, oldest first; the newest 20 at most. */
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
  /** How many at most, newest first. @defaultValue 100 */
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

  /** The dead letters an event left: one per subscription that gave it up. */
  show(id: string, filter: Pick<DeadLetterFilter, 'subscription'> = {}): Promise<DeadLetter[]> {
    return this.list({ ...filter, ids: [id] });
  }

  async count({ subscription }: Pick<DeadLetterFilter, 'subscription'> = {}): Promise<number> {
    const counts = this.#chosen({ subscription }).map(([, queue]) => queue.getFailedCount());
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** Has them handled again, with as many tries as a new event has. Returns how many. */
  retry(filter: DeadLetterFilter = {}): Promise<number> {
    return this.#each(filter, async (job, queue) => {
      await job.retry('failed');
      // Its place before the next one's: of two that wait, either may be the first that a worker gets to. After a crash in
      // between the worker gives it one; the other way round its lane would wait for a job that nobody has tried again.
      const entry = entryOf(job.data);
      // Without a death of ours written on it, its run would not know of that place.
      if (entry.group === null || !historyOf(job).retried) return;
      await this.#gate.reenter(queue.name, entry, { token: null, life: lifeOf(job) });
    });
  }

  /** Forgets them for good. Returns how many. */
  drop(filter: DeadLetterFilter = {}): Promise<number> {
    return this.#each(filter, async (job, queue) => {
      // The lane first: the other way round, a crash between the two would leave it waiting for a job that is gone.
      const { next } = await this.#gate.drop(queue.name, entryOf(job.data));
      await job.remove();
      if (next !== null) await promoteParked(queue, next);
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

/** Those dead when it begins; one that dies again meanwhile is not taken twice. */
async function eachFailed(queue: Queue<Delivery>, act: Act): Promise<number> {
  let left = await queue.getFailedCount();
  let done = 0;
  while (left > 0) {
    const jobs = inOrderOfDeath(await failedJobs(queue, 0, Math.min(CHUNK, left) - 1, { oldestFirst: true }));
    const acted = await eachOf(jobs, act);
    // Nothing more to be had: somebody else took them.
    if (acted === 0) return done;
    done += acted;
    left -= jobs.length;
  }
  return done;
}

/** BullMQ orders those of one millisecond by their ids. Of one record, the first in the log died first. */
function inOrderOfDeath(jobs: readonly Job<Delivery>[]): Job<Delivery>[] {
  const diedAt = ({ finishedOn = 0 }: Job<Delivery>): number => finishedOn;
  const sorted = jobs.toSorted((a, b) => diedAt(a) - diedAt(b) || compareLogIds(a.data.logId, b.data.logId));
  if (jobs.length < CHUNK) return sorted;
  // Others may have died in the millisecond of the last: they come with these in the next chunk.
  const [latest] = sorted.slice(-1).map(diedAt);
  const complete = sorted.filter((job) => diedAt(job) !== latest);
  return complete.length === 0 ? sorted : complete;
}

/** In the order given, one by one: retried dead letters of one record keep the order in which they died. */
async function eachOf(jobs: readonly Job<Delivery>[], act: Act): Promise<number> {
  let done = 0;
  for (const job of jobs) {
    try {
      await act(job);
      done += 1;
    } catch (error) {
      // Retried, dropped or expired by somebody else since it was listed.
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
  if (job.id === undefined) throw new ChangefeedError('CF_INTERNAL', { message: 'A dead letter without an id.' });
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
