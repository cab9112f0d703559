/**
 * Dead letters: events that are no longer attempted. They are BullMQ's failed jobs. A retry enters the event like any other, as a new
 * delivery: at the end of its ordering group, or in the place of the dead letter if that is held (`whenDead: 'hold'`). Then it removes the
 * dead letter. After a crash in between, the dead letter can be retried again, and its event is not entered twice.
 */
import type { Job, Queue } from 'bullmq';
import { compareLogIds } from '../events/log-id.js';
import type { ChangeEvent } from '../events/types.js';
import { isoTime, systemClock } from '../runtime/clock.js';
import { letterIdOf, replayOf, retriedId } from './delivery-id.js';
import { enqueue } from './enqueue.js';
import { parseFailedAttempt, type FailedAttempt } from './failure.js';
import { compileSelection } from './match.js';
import type { JobData, NewEntry, RecordGate } from './ports.js';
import { addJobs, type Queues } from './queues.js';

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
  /** Event types, selected as by `on` of a subscription. @defaultValue all */
  types?: readonly string[];
  /** A part of the message or the code of the last failure; upper and lower case are the same. @defaultValue any failure */
  reason?: string;
}

export interface ListOptions extends DeadLetterFilter {
  /** The largest number returned, newest first. @defaultValue 100 */
  limit?: number;
}

export class DeadLetters {
  readonly #queues: Queues;
  readonly #gate: RecordGate;

  constructor(queues: Queues, gate: RecordGate) {
    this.#queues = queues;
    this.#gate = gate;
  }

  /** Newest first. */
  async list({ limit = 100, ...filter }: ListOptions = {}): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    for (const [subscription, queue] of this.#chosen(filter)) {
      const jobs = isNarrow(filter)
        ? await jobsMatching(queue, filter)
        : await failedJobs(queue, 0, limit === Infinity ? -1 : limit - 1);
      for (const job of jobs) found.push(toDeadLetter(subscription, job));
    }
    return found.toSorted((a, b) => b.diedAt.localeCompare(a.diedAt)).slice(0, limit);
  }

  /** The dead letters of one event: more than one of a subscription only where the event was logged more than once. */
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
      const { workspace, logId, group, death } = job.data;
      const entry: NewEntry = {
        id: retriedId(job.id, diedAtMs(job)),
        logId,
        atMs: systemClock.now(),
        kind: 'decided',
        type: death.event.type,
        group,
        // It may have died, and been retried, before: an event can be logged twice.
        serial: `${diedAtMs(job)}-0`,
        stored: { event: death.event, traceparent: death.traceparent, earlierAttempts: attemptsOf(job) },
        replaces: job.id,
      };
      const batch = { workspace, source: `retry:${job.id}`, readAt: null, entries: [entry] };
      await enqueue(batch, { queue, gate: this.#gate });
      await job.remove();
    });
  }

  /** Deletes them. Returns how many. */
  drop(filter: DeadLetterFilter = {}): Promise<number> {
    return this.#each(filter, async (job, queue) => {
      const { workspace, group } = job.data;
      // The group first: in the other order, a crash in between would leave the group waiting for a deleted job.
      const advanced = await this.#gate.advance(queue.name, { workspace, group, id: job.id, token: '' });
      if (advanced.outcome === 'left' && advanced.next !== null)
        await addJobs(queue, [{ workspace, group, entry: advanced.next }]);
      await job.remove();
    });
  }

  #chosen({ subscription }: { subscription?: string | undefined }): [string, Queue<JobData>][] {
    return subscription === undefined ? [...this.#queues.all] : [[subscription, this.#queues.of(subscription)]];
  }

  async #each(
    filter: DeadLetterFilter,
    act: (job: DeadJob, queue: Queue<JobData>) => Promise<unknown>,
  ): Promise<number> {
    let done = 0;
    for (const [, queue] of this.#chosen(filter)) {
      const actOn = (job: DeadJob): Promise<unknown> => act(job, queue);
      if (isNarrow(filter)) done += await eachOf(inOrderOfDeath(await jobsMatching(queue, filter)), actOn);
      else done += await eachFailed(queue, actOn);
    }
    return done;
  }
}

/** A failed job whose death is recorded. BullMQ fails none by itself. */
type DeadJob = Job<JobData & { death: NonNullable<JobData['death']> }> & { id: string };
type Act = (job: DeadJob) => Promise<unknown>;

const KEPT_ATTEMPTS = 20;

const CHUNK = 200;

/** Acts on the dead letters that exist when it starts. One that becomes a dead letter again meanwhile is not taken twice. */
async function eachFailed(queue: Queue<JobData>, act: Act): Promise<number> {
  let remaining = await queue.getFailedCount();
  let done = 0;
  while (remaining > 0) {
    const jobs = completeMoments(await failedJobs(queue, 0, Math.min(CHUNK, remaining) - 1, { oldestFirst: true }));
    const acted = await eachOf(jobs, act);
    // Another process took the rest.
    if (acted === 0) return done;
    done += acted;
    remaining -= jobs.length;
  }
  return done;
}

const diedAtMs = ({ finishedOn = 0 }: DeadJob): number => finishedOn;

/** BullMQ orders the jobs of one millisecond by id. Of one record, the first in the log died first. */
function inOrderOfDeath(jobs: readonly DeadJob[]): DeadJob[] {
  return jobs.toSorted((a, b) => diedAtMs(a) - diedAtMs(b) || compareLogIds(a.data.logId, b.data.logId));
}

/** In that order. The next chunk may contain more jobs of the last millisecond, so those are left for it. */
function completeMoments(jobs: readonly DeadJob[]): DeadJob[] {
  const sorted = inOrderOfDeath(jobs);
  if (jobs.length < CHUNK) return sorted;
  const [latest] = sorted.slice(-1).map(diedAtMs);
  const complete = sorted.filter((job) => diedAtMs(job) !== latest);
  return complete.length === 0 ? sorted : complete;
}

/** One by one, in the order given, so that retried dead letters of one record keep the order in which they died. */
async function eachOf(jobs: readonly DeadJob[], act: Act): Promise<number> {
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
  queue: Queue<JobData>,
  start: number,
  end: number,
  { oldestFirst = false }: { oldestFirst?: boolean } = {},
): Promise<DeadJob[]> {
  const jobs = (await queue.getJobs(['failed'], start, end, oldestFirst)) as (Job<JobData> | undefined)[];
  return jobs.filter((job): job is DeadJob => job?.data.death !== undefined);
}

/** It names only some of a subscription's dead letters. */
function isNarrow({ ids, types, reason }: DeadLetterFilter): boolean {
  return ids !== undefined || types !== undefined || reason !== undefined;
}

async function jobsMatching(queue: Queue<JobData>, { ids, types, reason }: DeadLetterFilter): Promise<DeadJob[]> {
  const jobs = ids === undefined ? await failedJobs(queue, 0, -1) : await jobsById(queue, ids);
  const isOfType = types === undefined ? () => true : compileSelection({ on: types });
  const part = (reason ?? '').toLowerCase();
  return jobs.filter(({ data: { death } }) => {
    const { message, code } = death.failure;
    return isOfType(death.event) && `${code ?? ''} ${message}`.toLowerCase().includes(part);
  });
}

/** A person names a dead letter without the number of its retry. */
async function jobsById(queue: Queue<JobData>, ids: readonly string[]): Promise<DeadJob[]> {
  const failed = await queue.getRanges(['failed'], 0, -1);
  const wanted = new Set(ids);
  const found = failed.filter((id) => wanted.has(letterIdOf(id)));
  const jobs = await Promise.all(found.map((id) => queue.getJob(id) as Promise<Job<JobData> | undefined>));
  return jobs.filter((job): job is DeadJob => job?.data.death !== undefined);
}

function attemptsOf({ data, stacktrace }: DeadJob): FailedAttempt[] {
  const own = (stacktrace ?? []).flatMap((text) => parseFailedAttempt(text) ?? []);
  return [...(data.death.earlierAttempts ?? []), ...own].slice(-KEPT_ATTEMPTS);
}

function toDeadLetter(subscription: string, job: DeadJob): DeadLetter {
  const { workspace, logId, death } = job.data;
  return {
    id: letterIdOf(job.id),
    subscription,
    workspace,
    logId,
    reason: death.failure.message,
    diedAt: isoTime(job.finishedOn ?? job.timestamp),
    attempts: attemptsOf(job),
    event: death.event,
    replay: replayOf(job.id) !== undefined,
  };
}
