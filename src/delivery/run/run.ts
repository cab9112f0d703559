/**
 * What the runs of deliveries and of digests share: what they are given, the lock of a run, how a failed attempt ends it, and what BullMQ gets.
 * It must not know what an event or an ordering group is.
 */
import { DelayedError, WaitingError, type Job } from 'bullmq';
import { partsOf, retryAfterMsOf, statusOf } from '../handlers/errors.js';
import type { ReportOutcome, ReportSubject, Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../../kit/clock.js';
import type { Episode } from '../../kit/episode.js';
import type { Log } from '../../kit/log.js';
import type { Unfinished } from '../../kit/unfinished.js';
import { placeIn } from '../../kit/user-frame.js';
import type { EventLog } from '../../log/event-log.js';
import type { Interrupt, SurroundingsOf } from './attempt.js';
import { noteFailure } from './circuit-breaker.js';
import {
  AttemptFailedError,
  deadLetterError,
  decideRetry,
  recordFailure,
  waitLeftMs,
  type FailedAttempt,
  type Wait,
} from '../failure.js';
import { restQueue, type JobData, type QueueHandle } from '../queues.js';
import type { Noting } from '../receipts/note.js';
import type { DeliveryStores } from '../stores.js';
import type { VerifyOptions } from '../verify/verify.js';

export interface HandlingContext extends DeliveryStores {
  log: EventLog;
  /** The log's retention: what receivers said is kept no longer than events. @defaultValue it is not kept */
  logAgeMs?: number | undefined;
  measure?: Noting['measure'];
  logger: Log;
  clock: Clock;
  unfinished: Unfinished;
  surroundingsOf: SurroundingsOf;
  /** The todos or the changes since this time, ISO 8601, for a report. @defaultValue there are no reports */
  countFor?:
    ((what: ReportSubject, period: { workspace: string; since: string }) => Promise<ReportOutcome>) | undefined;
  /** Compares the copy of a subscription with the lists. @defaultValue none is compared */
  verifyCopy?: ((subscription: string, call: VerifyOptions) => Promise<unknown>) | undefined;
  /** The address of the status page, for links. @defaultValue no links */
  pageUrl?: string | undefined;
}

export interface RunOptions extends HandlingContext {
  subscription: Subscription;
  /** How long a job's lock lasts unless it is extended, ms. */
  lockMs: number;
  queue: () => QueueHandle;
  /** All of the configuration: some post to the same destination. */
  subscriptions: readonly Subscription[];
  /** Its failures in this process since the last success. */
  failing: Episode;
  /** Aborts when no more jobs are taken. */
  closing: AbortSignal;
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

/** 1 for the first attempt. A run whose process was lost, or did not respond for longer than the lock, was an attempt too. */
export function numberOf({ attemptsMade, stalledCounter }: Job<JobData>): number {
  return attemptsMade + stalledCounter + 1;
}

/** Another run has the job, or will have it: this one ends without a result, and its attempt does not count. Any step may throw it. */
export class TakenOver extends Error {}

/** Nothing may be written on the job by a process that does not hold its lock. @throws TakenOver */
export async function extendLock({ job, lock }: GivenRun, { lockMs }: RunOptions): Promise<void> {
  const askedAtMs = systemClock.monotonic();
  if ((await job.extendLock(lock.token, lockMs)) !== 1) throw new TakenOver();
  lock.untilMs = askedAtMs + lockMs;
}

/**
 * A run looks at its lock until it is not over, without an `await` between the last look and the call of the handler: a process that was
 * suspended must not call it for what another one has handled meanwhile. @throws TakenOver
 */
export function isLockOver({ lock }: GivenRun): boolean {
  if (lock.interrupt.cause === 'lost') throw new TakenOver();
  return systemClock.monotonic() >= lock.untilMs;
}

/** An attempt does not go now. `rests`: nothing of its queue does, for so long. */
export type NoTurn = { outcome: 'stopping' } | { outcome: 'rests'; waitMs: number };

/** How a failed attempt ends its run. `paused` and `stopping`: it does not count. */
export type Failed =
  /** `isHeld`: so is all that goes to its destination, so it stays the first one of its queue. */
  | ({ outcome: 'retry'; failure: FailedAttempt; isHeld: boolean } & Wait)
  | { outcome: 'dead'; failure: FailedAttempt }
  | { outcome: 'paused'; failure: FailedAttempt }
  | { outcome: 'stopping' };

export interface Attempted {
  attempt: number;
  /** When its run began, and how long the handler took; ms. */
  beganMs: number;
  ms: number;
  /** The event or digest, for the log. */
  facts: object;
  /** What is logged where no attempt follows. */
  ended: string;
}

/** The outcome of an attempt that threw `error`. @throws TakenOver */
export async function outcomeOfFailure(
  error: unknown,
  { job, lock }: GivenRun,
  attempted: Attempted,
  context: RunOptions,
): Promise<Failed> {
  const { subscription, clock } = context;
  if (error instanceof TakenOver || lock.interrupt.cause === 'lost') throw new TakenOver();
  // We interrupted it. The next process finds the job at the front of the queue.
  if (lock.interrupt.cause === 'stopping') return { outcome: 'stopping' };
  const health = await noteFailure(error, job.data.workspace, { ...context, queue: context.queue() });
  const { attempt, ms } = attempted;
  const failure = recordFailure(error, { attempt, nowMs: clock.now(), ms });
  // What failed is the first to be handled when the subscription is resumed.
  if (health === 'paused') return { outcome: 'paused', failure };
  const decision = decideRetry(error, { attempt, retry: subscription.retry, random: Math.random() });
  const waitMs = decision.outcome === 'retry' ? decision.waitMs : null;
  const isHeld = await holdAfter(error, waitMs, { job, lock }, context);
  if (decision.outcome === 'dead') {
    logFailure(error, { ...attempted, failure, because: decision.because }, context);
    return { outcome: 'dead', failure };
  }
  const { waitMs: retryInMs } = decision;
  logFailure(error, { ...attempted, failure, retryInMs }, context);
  return { outcome: 'retry', failure, isHeld, waitMs: retryInMs, untilMs: (await context.log.serverMs()) + retryInMs };
}

/** The same event goes to many subscriptions. */
export function turnOf({ job }: GivenRun, { subscription }: RunOptions): string {
  return `${subscription.name}/${job.id ?? ''}`;
}

/**
 * The receiver asked for a pause: nobody sends to the destination before it is over, then this attempt's delivery goes first, alone.
 * @param waitMs how long its next attempt waits; null: none follows
 */
async function holdAfter(error: unknown, waitMs: number | null, run: GivenRun, context: RunOptions): Promise<boolean> {
  const { subscription, pace } = context;
  const asked = retryAfterMsOf(error);
  const isRefused = asked !== undefined || statusOf(error) === TOO_MANY;
  if (subscription.destination === undefined || !isRefused) return false;
  const ms = waitMs ?? asked ?? subscription.retry.delayMs;
  await pace.hold(subscription.destination, { id: turnOf(run, context), ms, again: waitMs !== null });
  return true;
}

const TOO_MANY = 429;

/**
 * A job comes too early where the clock of this process is ahead of that which planned it, where that was ahead, or where a person has promoted
 * it. Then its attempt waits on, so that no attempt is used up before its time.
 * @returns ms; 0: the attempt may begin
 */
export async function waitBefore({ job }: GivenRun, { log }: RunOptions): Promise<number> {
  const last = job.attemptsMade === 0 ? undefined : job.stacktrace?.at(-1);
  return last === undefined ? 0 : waitLeftMs(last, await log.serverMs());
}

export const HANDLER_FAILED = 'handler failed, the event will be retried';
/** Logged at `debug`, beside a line that is shown; whoever writes the handler at a terminal sees it too. */
export const WHAT_WAS_SAID = 'what was said when an attempt failed';

interface FailedLine {
  facts: object;
  ended: string;
  beganMs: number;
  failure: FailedAttempt;
  /** Why no attempt follows. */
  because?: 'permanent' | 'exhausted' | 'crashed';
  /** When the next attempt follows. */
  retryInMs?: number;
}

/** The line of an attempt that failed, with every fact. While an endpoint is away, only its first failure is a warning. */
export function logFailure(
  thrown: unknown,
  { facts: about, ended, beganMs, failure, because, retryInMs }: FailedLine,
  { logger, failing }: RunOptions,
): void {
  const { attempt, message: said, code, frames, status, ms } = failure;
  const { known: error } = partsOf(thrown);
  const facts = { ...about, attempt, error, at: placeIn(frames.join('\n')), code, status, ms };
  const sayMore = (): void => {
    if (said !== error) logger.debug({ ...about, attempt, error: said }, WHAT_WAS_SAID);
  };
  if (because !== undefined) {
    logger.error({ ...facts, because }, ended);
    sayMore();
    return;
  }
  // An attempt that began before the last success says nothing new: the endpoint was away when it was tried.
  const isOld = !failing.holds && failing.explains(beganMs);
  const line = { ...facts, retryInMs };
  if (isOld || !failing.failed(line, { kind: code ?? '' })) logger.debug({ ...line, error: said }, HANDLER_FAILED);
  else sayMore();
}

/** The outcomes that BullMQ hears of. It completes the job after any other. */
type Reported = Failed | NoTurn | { outcome: 'waits'; waitMs: number };

/** @throws what tells BullMQ to delay, fail or requeue the job */
export async function report(ended: Reported, { job, lock }: GivenRun, { queue }: RunOptions): Promise<never> {
  switch (ended.outcome) {
    case 'retry':
      if (!ended.isHeld) throw new AttemptFailedError(ended.failure, ended);
      // At once and to the front: the destination has it wait, and what is behind it too.
      job.opts.lifo = true;
      throw new AttemptFailedError(ended.failure, { waitMs: 0, untilMs: ended.untilMs - ended.waitMs });
    case 'rests':
      return await restQueue(queue(), ended.waitMs);
    case 'dead':
      throw deadLetterError(ended.failure);
    case 'waits':
      // BullMQ counts by the clock of the process, whatever `clock` is.
      await job.moveToDelayed(systemClock.now() + ended.waitMs, lock.token);
      throw new DelayedError();
    // Back to the front of the queue.
    case 'paused':
    case 'stopping':
      await job.moveToWait(lock.token);
      throw new WaitingError();
  }
}
