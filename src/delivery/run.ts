/** What the runs of deliveries and of digests share: the lock of a run, and what follows a failed attempt. */
import { WaitingError, type Job } from 'bullmq';
import { partsOf } from './handlers/errors.js';
import type { ReportOutcome, Subscription } from './handlers/handler.js';
import { systemClock, type Clock } from '../kit/clock.js';
import type { Episode } from '../kit/episode.js';
import type { Log } from '../kit/log.js';
import type { Unfinished } from '../kit/unfinished.js';
import { placeIn } from '../kit/user-frame.js';
import type { EventLog } from '../log/event-log.js';
import type { RecordGate } from './groups/gate.js';
import type { HealthStore } from './health.js';
import type { OffsetStore } from './offsets.js';
import type { OnceStore } from './once.js';
import type { ReceiptStore } from './receipts/receipts.js';
import type { Interrupt, SurroundingsOf } from './attempt.js';
import { noteFailure } from './circuit-breaker.js';
import { decideRetry, type FailedAttempt } from './failure.js';
import type { ComparisonOf } from './merge-changes.js';
import type { JobData, QueueHandle } from './queues.js';
import type { Noting } from './receipts/note.js';
import type { Suspects } from './suspects.js';

export interface HandlingContext extends Pick<Noting, 'logAgeMs' | 'measure'> {
  log: EventLog;
  gate: RecordGate;
  offsets: OffsetStore;
  once: OnceStore;
  health: HealthStore;
  receipts: ReceiptStore;
  logger: Log;
  clock: Clock;
  unfinished: Unfinished;
  /** How detection compares the records of a list, for debounce. @defaultValue of a list without options */
  comparisonOf?: ComparisonOf | undefined;
  surroundingsOf: SurroundingsOf;
  /** The todos since this time, ISO 8601, for a report. @defaultValue there are no reports */
  countTodos?: ((workspace: string, since: string) => Promise<ReportOutcome>) | undefined;
  /** The address of the status page, for links. @defaultValue no links */
  pageUrl?: string | undefined;
}

export interface RunOptions extends HandlingContext {
  subscription: Subscription;
  /** This process, as it is noted with each run that it begins. */
  processId: string;
  lives: (process: string) => Promise<boolean>;
  /** The suspects of all subscriptions of the process. */
  suspects: Suspects;
  /** How long a job's lock lasts unless it is extended, ms. */
  lockMs: number;
  /** After so many processes that were lost while they handled it, an event becomes a dead letter. */
  mostCrashes: number;
  queue: () => QueueHandle;
  /** Its failures in this process since the last success. */
  failing: Episode;
}

/** What is known of the lock of a run. Its time is real: the lock does not follow `clock`. */
export interface Lock {
  token: string;
  interrupt: Interrupt;
  /** It lasts at least until then, by the monotonic clock. */
  untilMs: number;
}

export interface GivenRun {
  job: Job<JobData>;
  lock: Lock;
}

/** Another run has the job, or will have it. */
export class TakenOver extends Error {}

/** Nothing may be written on the job by a process that does not hold its lock. @throws TakenOver */
export async function extendLock({ job, lock }: GivenRun, { lockMs }: Pick<RunOptions, 'lockMs'>): Promise<void> {
  const askedAtMs = systemClock.monotonic();
  if ((await job.extendLock(lock.token, lockMs)) !== 1) throw new TakenOver();
  lock.untilMs = askedAtMs + lockMs;
}

/** There must be no `await` between this and the call of the handler. @throws TakenOver */
export async function holdLock(run: GivenRun, options: Pick<RunOptions, 'lockMs'>): Promise<void> {
  while (systemClock.monotonic() >= run.lock.untilMs) await extendLock(run, options);
  if (run.lock.interrupt.cause === 'lost') throw new TakenOver();
}

/** Back to the front of the queue: the attempt does not count. */
export async function requeue({ job, lock }: GivenRun): Promise<never> {
  await job.moveToWait(lock.token);
  throw new WaitingError();
}

/** `paused`: the subscription is, and the attempt does not count: it is to be requeued. @throws where it was interrupted */
export async function countFailure(error: unknown, run: GivenRun, context: RunOptions): Promise<'counted' | 'paused'> {
  const { interrupt } = run.lock;
  if (interrupt.cause === 'lost') throw new TakenOver();
  // We interrupted it. The next process finds the job at the front of the queue.
  if (interrupt.cause === 'stopping') return requeue(run);
  const health = await noteFailure(error, run.job.data.workspace, { ...context, queue: context.queue() });
  // What failed is the first to be handled when the subscription is resumed.
  return health === 'paused' ? 'paused' : 'counted';
}

export const HANDLER_FAILED = 'handler failed, the event will be retried';

interface Failing {
  failure: FailedAttempt;
  beganMs: number;
  facts: object;
  /** What is logged where no attempt follows. */
  ended: string;
}

/** How long to wait for the next attempt, ms; null: no attempt follows. */
export function waitAfter(
  thrown: unknown,
  { failure, beganMs, ended, ...about }: Failing,
  { subscription, logger, failing }: RunOptions,
): number | null {
  const { attempt, message: said, code, frames } = failure;
  const { known: error } = partsOf(thrown);
  const facts = { ...about.facts, attempt, error, at: placeIn(frames.join('\n')), code };
  if (said !== error) logger.debug({ ...facts, error: said }, 'what was said when an attempt failed');
  const decision = decideRetry(thrown, { attempt, retry: subscription.retry, random: Math.random() });
  if (decision.outcome === 'dead') {
    logger.error({ ...facts, because: decision.because }, ended);
    return null;
  }
  const retried = { ...facts, retryInMs: decision.waitMs };
  // An attempt that began before the last success says nothing new: the endpoint was away when it was tried.
  const isOld = !failing.holds && failing.explains(beganMs);
  if (isOld || !failing.failed(retried, { kind: code ?? '' })) logger.debug(retried, HANDLER_FAILED);
  return decision.waitMs;
}
