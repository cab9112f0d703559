/**
 * One run of one delivery, from the moment BullMQ hands over the job until BullMQ gets the result.
 *
 *   turn ──wait──> back into the delayed set until the event ahead has left its ordering group
 *    │ └───left──> handled before (a repeat after a crash): nothing to run
 *    go ──debounce──> back into the delayed set until the record is quiet; then followers are merged into it (debounce.ts)
 *    │
 *    handler, alone or in a batch with others (batcher.ts)
 *    │ └──────fails──> subscription disabled? back to the front of the paused queue (circuit-breaker.ts)
 *    │                  decide ──retry──> BullMQ delays it; it stays the head of its group
 *    │                    └──────dead──> write the death on the job, leave the group (or hold it), become a dead letter
 *    leave the group, wake the next event, complete
 *
 * The event leaves its group before BullMQ gets the result. If the process is killed in between, the job comes back as a
 * stalled job, finds that its event has left, and only reports the result. In the other order, a kill would leave the group
 * waiting for a job that no longer exists.
 */
import { DelayedError, WaitingError, type Job } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { attemptDelivery, type Interrupt } from './attempt.js';
import type { Batcher, BatchResult } from './batcher.js';
import { noteFailure } from './circuit-breaker.js';
import { debounce } from './debounce.js';
import { promote, promoteUntried, readFollowers, removeFollowers, type QueueHandle } from './delayed-jobs.js';
import {
  AttemptFailedError,
  deadLetterError,
  decideRetry,
  recordFailure,
  type DecidedFailure,
  type FailedAttempt,
} from './failure.js';
import { deathAfter, historyOf, lifeOf, type JobHistory } from './job-history.js';
import type { ComparisonOf } from './merge-changes.js';
import type { Claim, Delivery, HealthStore, Leave, OnceStore, RecordGate } from './ports.js';
import { BEHIND_DELAY_MS, entryOf } from './queues.js';

/**
 * After this many processes were lost while they handled one event, the event counts as the cause. The limit is high because
 * deployments and crashed machines must not make dead letters, but an event that kills every process must not do so without
 * end.
 */
const MOST_STALLS = 50;

export interface RunContext {
  subscription: Subscription;
  gate: RecordGate;
  queue: QueueHandle;
  once: OnceStore;
  health: HealthStore;
  logger: Log;
  clock: Clock;
  random: () => number;
  /** How long a job's lock lasts unless it is extended, ms. */
  lockMs: number;
  /** Called with the value that a handler returned although it should return nothing. */
  onReturned: (value: unknown) => void;
  /** How debounce compares records. */
  comparisonOf?: ComparisonOf | undefined;
  /** Collects events for a batch handler; without it they are handled one by one. */
  batcher?: Batcher;
}

export interface Run {
  job: Job<Delivery>;
  token: string;
  /** Aborts the handler when the process stops or another process has taken over the job. */
  interrupt: Interrupt;
}

interface ClaimedRun extends Run {
  claim: Claim;
  history: JobHistory;
}

export async function runDelivery(given: Run, context: RunContext): Promise<void> {
  const { job, token } = given;
  const { replay, snapshot } = job.data;
  const history = historyOf(job);
  const claim: Claim = {
    ...entryOf(job.data),
    // BullMQ uses one token for many jobs in turn and starts one job many times: the pair identifies the run.
    holder: `${token}/${job.attemptsStarted}`,
    retried: history.retried,
    backfilled: replay !== undefined || snapshot === true,
  };
  const run = { ...given, claim, history };
  // Without an order there is no turn to wait for.
  if (claim.group === null) return handle(run, context);
  if (claim.retried) claim.position = await reenter(run, context);
  const turn = await context.gate.turn(context.subscription.name, claim);
  if (turn.outcome === 'taken-over') throw takenOver(context.subscription, job);
  if (turn.outcome === 'wait') return waitBehind(run, context);
  if (turn.outcome === 'go') return debounceAndHandle(run, context);
  if (turn.next !== null) await promoteUntried(context.queue, turn.next);
  if (history.death !== null) throw deadLetterError(history.death);
}

async function debounceAndHandle(run: ClaimedRun, context: RunContext): Promise<void> {
  const { job, token } = run;
  const result = await debounce({ ...run, ...context });
  if (result.outcome === 'go') return handle(run, context);
  if (result.outcome === 'taken-over') throw takenOver(context.subscription, job);
  if (result.outcome === 'nothing') {
    if (result.next !== null) await promote(context.queue, result.next);
    return;
  }
  await job.moveToDelayed(result.untilMs, token);
  throw new DelayedError();
}

async function reenter({ job, token, claim }: ClaimedRun, { gate, subscription }: RunContext): Promise<string> {
  const reentry = await gate.reenter(subscription.name, claim, { token, life: lifeOf(job) });
  if (reentry.outcome === 'placed') return reentry.position;
  throw takenOver(subscription, job);
}

/** Extends the job's lock. Returns until when it lasts, in real time: the lock does not follow `clock`. */
async function extendLock({ job, token }: ClaimedRun, { subscription, lockMs }: RunContext): Promise<number> {
  const askedAt = systemClock.now();
  if ((await job.extendLock(token, lockMs)) !== 1) throw takenOver(subscription, job);
  return askedAt + lockMs;
}

async function handle(run: ClaimedRun, context: RunContext): Promise<void> {
  const { job, interrupt, history } = run;
  const { subscription, logger, clock, once } = context;
  if (history.death !== null) return deadLetter(run, context, history.death);
  if (history.stalls > MOST_STALLS) return deadLetter(run, context, stallsAsFailure(history, clock.now()));
  if (history.batchFailure !== null) return fail(run, context, history.batchFailure);
  if (context.batcher !== undefined) return handleInBatch(run, context, context.batcher);
  // A process that was suspended since its turn began may have lost the event, and other events of the record may have run.
  // There must be no `await` between the last check of the lock and the handler.
  let lockedUntil = (job.processedOn ?? 0) + context.lockMs;
  while (systemClock.now() >= lockedUntil) lockedUntil = await extendLock(run, context);
  try {
    const { attempt } = history;
    const parts = { subscription, delivery: job.data, attempt, interrupt, logger, clock, once };
    const returned = await attemptDelivery(parts);
    if (returned !== undefined) context.onReturned(returned);
  } catch (error) {
    return afterFailure(error, run, context);
  }
  await leave(run, context);
}

/**
 * Handles the head of a group and the followers that join its batch. The handled ones, head included, leave in one step: if
 * the process is killed before it, all of them are handled again in order; after it, none is.
 *
 * A follower that failed becomes the head. Its failure is first written on its job, and reported to BullMQ at its own turn
 * (see job-history.ts), so a kill in between does not lose the count of an attempt that was made.
 */
async function handleInBatch(run: ClaimedRun, context: RunContext, batcher: Batcher): Promise<void> {
  const { claim, interrupt } = run;
  const { subscription, gate, queue } = context;
  const { followers, outcome } = await joinBatch(run, context, batcher);
  if (outcome.outcome === 'failed' && outcome.done === 0) return afterFailure(outcome.error, run, context);
  const done = outcome.outcome === 'done' ? followers.length + 1 : outcome.done;
  const failed = followers[done - 1];
  // An attempt that we interrupted, or that disabled the subscription, does not count as failed.
  const counts =
    outcome.outcome === 'failed' &&
    interrupt.cause === null &&
    (await noteFailure(outcome.error, context)) === 'failing';
  if (counts && failed !== undefined) {
    await queue.getBackend().updateProgress(failed.id, { batchFailure: decide(outcome.error, 1, context) });
  }
  const ids = followers.slice(0, done - 1).map(({ id }) => id);
  const left = await (ids.length === 0
    ? gate.leave(subscription.name, claim)
    : gate.leaveTogether(subscription.name, claim, { followers: ids }));
  if (left.outcome === 'left') await removeFollowers(queue, ids);
  await wakeNext(left, run, context);
}

async function joinBatch(run: ClaimedRun, context: RunContext, batcher: Batcher): Promise<BatchResult> {
  const { job, claim, history, interrupt } = run;
  const { gate, queue, subscription, lockMs } = context;
  try {
    return await batcher.join({
      delivery: job.data,
      attempt: history.attempt,
      lockedUntil: (job.processedOn ?? 0) + lockMs,
      extendLock: () => extendLock(run, context),
      // With debounce, followers must first be merged and cannot join the batch as they are.
      followers: async (most) =>
        subscription.settle === undefined ? await gate.followers(subscription.name, claim, most) : [],
      read: (ids) => readFollowers(queue, ids),
    });
  } catch (error) {
    // The batch was not flushed.
    if (interrupt.cause === 'stopping') return requeue(run);
    throw error;
  }
}

async function afterFailure(error: unknown, run: ClaimedRun, context: RunContext): Promise<void> {
  const { job, interrupt, history } = run;
  if (interrupt.cause === 'lost') throw takenOver(context.subscription, job);
  // We interrupted it, so the attempt does not count. The next process finds the job at the front of the queue.
  if (interrupt.cause === 'stopping') return requeue(run);
  // This attempt does not count either: the event is the first to be handled when the subscription is enabled.
  if ((await noteFailure(error, context)) === 'disabled') return requeue(run);
  return fail(run, context, decide(error, history.attempt, context));
}

function decide(error: unknown, attempt: number, { subscription, clock, random }: RunContext): DecidedFailure {
  return {
    failure: recordFailure(error, { attempt, nowMs: clock.now() }),
    decision: decideRetry(error, { attempt, retry: subscription.retry, random: random() }),
  };
}

async function fail(run: ClaimedRun, context: RunContext, { failure, decision }: DecidedFailure): Promise<void> {
  const { subscription, logger } = context;
  const { attempt, message: error, code } = failure;
  const facts = { subscription: subscription.name, event: run.job.id, attempt, error, code };
  if (decision.outcome === 'dead') {
    logger.error({ ...facts, because: decision.because }, 'event became a dead letter');
    return deadLetter(run, context, failure);
  }
  logger.warn({ ...facts, retryInMs: decision.waitMs }, 'handler failed, the event will be retried');
  throw new AttemptFailedError(failure, decision.waitMs);
}

async function requeue({ job, token }: ClaimedRun): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

async function deadLetter(run: ClaimedRun, context: RunContext, failure: FailedAttempt): Promise<never> {
  const { job, token, history } = run;
  if (history.death === null) {
    // Only the process that still holds the lock may write on the job.
    if ((await job.extendLock(token, context.lockMs)) !== 1) throw takenOver(context.subscription, job);
    await job.updateProgress(deathAfter(job, failure));
  }
  if (context.subscription.whenDead === 'hold') await hold(run, context);
  else await leave(run, context);
  throw deadLetterError(failure);
}

async function hold({ job, claim }: ClaimedRun, { gate, subscription }: RunContext): Promise<void> {
  // Without an order no event waits for this one.
  const held = await (claim.group === null
    ? gate.leave(subscription.name, claim)
    : gate.hold(subscription.name, claim));
  if (held.outcome === 'taken-over') throw takenOver(subscription, job);
}

async function leave(run: ClaimedRun, context: RunContext): Promise<void> {
  await wakeNext(await context.gate.leave(context.subscription.name, run.claim), run, context);
}

async function wakeNext(left: Leave, { job }: ClaimedRun, { queue, subscription }: RunContext): Promise<void> {
  if (left.outcome === 'taken-over') throw takenOver(subscription, job);
  if (left.next !== null) await promote(queue, left.next);
}

async function waitBehind({ job, token, claim }: ClaimedRun, context: RunContext): Promise<never> {
  const { gate, queue, subscription, clock } = context;
  await job.moveToDelayed(clock.now() + BEHIND_DELAY_MS, token);
  // The event ahead may have left while this job was being delayed, and then there was no delayed job to promote. Or it may
  // have taken this event into its batch or merge.
  const turn = await gate.turn(subscription.name, claim);
  if (turn.outcome !== 'wait') await promote(queue, claim.eventId);
  throw new DelayedError();
}

function takenOver({ name }: Subscription, { id }: Job<Delivery>): ChangefeedError {
  return new ChangefeedError('CF_LEASE_LOST', {
    subscription: name,
    event: id,
    message: `Event ${id ?? ''} of "${name}" was taken over by another process, because this process did not respond for longer than the lock. The result of the handler here does not count; the other process handles the event again.`,
  });
}

function stallsAsFailure({ attempt, stalls }: JobHistory, nowMs: number): FailedAttempt {
  const message = `The process was lost ${stalls} times while handling this event. Find out whether the event makes it crash, then retry it.`;
  const error = new ChangefeedError('CF_HANDLER_FAILED', { message });
  return recordFailure(error, { attempt, nowMs });
}
