/** Dead letters: BullMQ's failed jobs. A retry enters the event before it removes the letter, so a crash loses none. */
import type { Job, Queue } from 'bullmq';
import { compareLogIds } from '../../events/log-id.js';
import type { ChangeEvent } from '../../events/types.js';
import { isoTime, systemClock } from '../../kit/clock.js';
import { giveWay } from '../../kit/give-way.js';
import { enqueue, leaveGroup, letterIdOf, replayOf, retriedId } from '../deliveries.js';
import { parseFailedAttempt, type FailedAttempt } from '../failure.js';
import { compileSelection } from '../../events/pattern.js';
import type { NewEntry, RecordGate } from '../groups/gate.js';
import { jobIdsIn, type Queues, type JobData } from '../queues.js';
import { noteEnd } from '../receipts/note.js';
import type { DispatchContext } from '../stores.js';

/** An event whose attempts are used up, with the reason. */
export interface DeadLetter {
  /** The event's id, then `.r…` of a replay. One event can be a dead letter of several subscriptions. */
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

/** Which dead letters; what is left out does not restrict. */
export interface DeadLetterFilter {
  /** @defaultValue all subscriptions */
  subscription?: string | undefined;
  /** Event ids. @defaultValue all events */
  ids?: readonly string[] | undefined;
  /** Event types, selected as by `on` of a subscription. @defaultValue all */
  types?: readonly string[] | undefined;
  /** A part of the last failure's message or code, in any case. @defaultValue any failure */
  reason?: string | undefined;
}

/** Which dead letters are listed, and how many. */
export interface ListOptions extends DeadLetterFilter {
  /** The largest number returned, newest first. @defaultValue 100 */
  limit?: number;
}

interface OfSubscription {
  subscription?: string | undefined;
}

type LettersContext = Pick<DispatchContext, 'gate' | 'receipts' | 'subscriptions' | 'clock'>;

/** Lists, retries and drops what could not be handled. */
export class DeadLetters {
  readonly #queues: Queues;
  readonly #gate: RecordGate;
  readonly #context: LettersContext;

  constructor(queues: Queues, context: LettersContext) {
    this.#queues = queues;
    this.#gate = context.gate;
    this.#context = context;
  }

  /** Newest first. */
  async list({ limit = 100, ...filter }: ListOptions = {}): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    for (const [subscription, queue] of this.#chosen(filter)) {
      let wanted = limit;
      for await (const jobs of deadJobs(queue, filter, 'newest first')) {
        found.push(...jobs.slice(0, wanted).map((job) => toDeadLetter(subscription, job)));
        wanted -= jobs.length;
        if (wanted <= 0) break;
      }
    }
    return found.toSorted((a, b) => b.diedAt.localeCompare(a.diedAt)).slice(0, limit);
  }

  /** How many there are, of one subscription or of all. */
  async count({ subscription }: OfSubscription = {}): Promise<number> {
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
        stored: { event: death.event, earlierAttempts: attemptsOf(job) },
        replaces: job.id,
      };
      // Redis may have gone back to before it died: then it still waits, and would be entered twice.
      const readAt = { letter: job.id, diedAtMs: diedAtMs(job) };
      const batch = { workspace, source: `retry:${job.id}`, readAt, entries: [entry] };
      do {
        await enqueue(batch, { queue, gate: this.#gate });
        if (await this.#gate.removeLetter(queue.name, batch)) return true;
      } while (await job.isFailed());
      return false;
    });
  }

  /** Deletes them. Returns how many. */
  drop(filter: DeadLetterFilter = {}): Promise<number> {
    return this.#each(filter, async (job, queue) => {
      const { workspace, group } = job.data;
      // The group first: in the other order, a crash in between would leave the group waiting for a deleted job.
      await leaveGroup({ workspace, group, id: job.id }, { queue, gate: this.#gate });
      await job.remove();
      await this.#noteDropped(job, queue.name);
      return true;
    });
  }

  /** After it was dropped: after a kill in between, nothing says what became of it. */
  async #noteDropped({ id, data: { workspace, logId, death } }: DeadJob, name: string): Promise<void> {
    const { receipts, subscriptions, clock } = this.#context;
    const subscription = subscriptions.find((one) => one.name === name);
    if (subscription === undefined) return;
    const dropped = { id, workspace, logId, event: death.event };
    const noted = noteEnd([dropped], { outcome: 'skipped', why: 'dropped' }, { subscription, clock });
    if (noted !== undefined) await receipts.keep({ subscription: name, workspace }, noted);
  }

  #chosen({ subscription }: OfSubscription): [string, Queue<JobData>][] {
    return subscription === undefined ? [...this.#queues.all] : [[subscription, this.#queues.of(subscription)]];
  }

  /** `act` says whether it was done. One by one, in the order in which they died, so that retried dead letters of one record keep it. */
  async #each(
    filter: DeadLetterFilter,
    act: (job: DeadJob, queue: Queue<JobData>) => Promise<boolean>,
  ): Promise<number> {
    let done = 0;
    for (const [, queue] of this.#chosen(filter)) {
      for await (const jobs of deadJobs(queue, filter, 'oldest first')) {
        for (const job of inOrderOfDeath(jobs)) {
          try {
            if (await act(job, queue)) done += 1;
          } catch (error) {
            // Otherwise another process has retried, dropped or expired it since it was listed.
            if (await job.isFailed()) throw error;
          }
        }
      }
    }
    return done;
  }
}

/** A failed job whose death is recorded. BullMQ fails none by itself. */
type DeadJob = Job<JobData & { death: NonNullable<JobData['death']> }> & { id: string };

const KEPT_ATTEMPTS = 20;

const CHUNK = 200;

/** The dead letters of the first call, in chunks. One that dies again meanwhile has another id, and is not among them. */
async function* deadJobs(
  queue: Queue<JobData>,
  { ids, types, reason = '' }: DeadLetterFilter,
  order: 'newest first' | 'oldest first',
): AsyncGenerator<DeadJob[]> {
  const isOfType = types === undefined ? () => true : compileSelection({ on: types });
  const isWanted = ({ death: { event, failure } }: DeadJob['data']): boolean =>
    isOfType(event) && `${failure.code ?? ''} ${failure.message}`.toLowerCase().includes(reason.toLowerCase());
  const newest = await jobIdsIn(queue, ['failed']);
  const failed = order === 'oldest first' ? newest.reverse() : newest;
  // A person names a dead letter without the number of its retry.
  const named = ids === undefined ? failed : failed.filter((id) => ids.includes(letterIdOf(id)));
  for (let at = 0; at < named.length; at += CHUNK) {
    await giveWay();
    const jobs = await Promise.all(named.slice(at, at + CHUNK).map((id) => queue.getJob(id)));
    const dead = jobs.filter((job): job is DeadJob => job?.data.death !== undefined);
    yield dead.filter(({ data }) => isWanted(data));
  }
}

const diedAtMs = ({ finishedOn = 0 }: DeadJob): number => finishedOn;

/** BullMQ orders the jobs of one millisecond by id. Of one record, the first in the log died first. */
function inOrderOfDeath(jobs: readonly DeadJob[]): DeadJob[] {
  return jobs.toSorted((a, b) => diedAtMs(a) - diedAtMs(b) || compareLogIds(a.data.logId, b.data.logId));
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
