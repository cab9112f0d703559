/**
 * One run of one delivery, from BullMQ handing over the job to BullMQ being told how it ended.
 *
 *   turn ──wait──> park: back into the delayed set until the event ahead has left
 *    │ └───left──> done before (a repeat after a crash): nothing to run
 *    go ──settling──> back into the delayed set until the record has been still; then those behind it are merged into it
 *    │                (settle.ts)
 *    handler, alone or in a batch with others (batcher.ts)
 *    │ └──────fails──> disabled? back to the front of the paused queue, see outage.ts
 *    │                  judge ──retry──> BullMQ delays it; it stays the head of its lane
 *    │                    └─────dead──> write the death, leave the lane (or hold it), become a dead letter
 *    leave the lane, wake the follower, complete
 *
 * The lane is left before BullMQ is told, never after: a process killed in between comes back as a stalled job, finds
 * that it has left, and only tells. The other way round, a kill would leave the lane waiting for a job that is gone.
 */
import { DelayedError, WaitingError, type Job } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { Subscription } from '../handlers/handler.js';
import { attemptDelivery } from './attempt.js';
import type { Batcher, Journey } from './batcher.js';
import { AttemptFailedError, deadLetterError, decideRetry, recordFailure, type FailedAttempt } from './failure.js';
import { deathAfter, historyOf, lifeOf, type JobHistory, type BatchFailure } from './job-history.js';
import type { Interrupt } from './interrupt.js';
import type { ComparisonOf } from './merge-changes.js';
import { noteFailure } from './circuit-breaker.js';
import { promote, promoteParked, readParked, type Store } from './delayed-jobs.js';
import type { Claim, Delivery, HealthStore, Leave, OnceStore, RecordGate } from './ports.js';
import { PARKED_MS, entryOf, isBackfill } from './queue-layout.js';
import { endRide } from './ride.js';
import { settle } from './debounce.js';

/**
 * So many processes may be lost while they handle one event before it is taken for the cause. Deployments and machines
 * that die are innocent and must not make dead letters; an event that kills every process must not do so for ever.
 */
const MOST_STALLS = 50;

export interface RunContext {
  subscription: Subscription;
  gate: RecordGate;
  store: Store;
  once: OnceStore;
  health: HealthStore;
  logger: Log;
  clock: Clock;
  random: () => number;
  /** How long BullMQ lets us hold a job without a sign of life, ms. */
  lockMs: number;
  /** Called with what a handler returned that should return nothing. */
  onReturned: (value: unknown) => void;
  /** What `settle` compares records by. */
  comparisonOf?: ComparisonOf | undefined;
  /** Where events wait for each other; without one they are handled one by one. */
  batcher?: Batcher;
}

export interface Run {
  job: Job<Delivery>;
  token: string;
  /** Ends the handler when the process stops or another has taken the job over. */
  interrupt: Interrupt;
}

interface Going extends Run {
  claim: Claim;
  history: JobHistory;
}

export async function runDelivery(run: Run, context: RunContext): Promise<void> {
  const { job, token } = run;
  const history = historyOf(job);
  const claim: Claim = {
    ...entryOf(job.data),
    // BullMQ gives one token to many jobs in turn, and one job many starts: the pair is one run.
    holder: `${token}/${job.attemptsStarted}`,
    retried: history.retried,
    backfilled: isBackfill(job.data),
  };
  const going = { ...run, claim, history };
  // Without an order there is no turn to wait for.
  if (claim.group === null) return proceed(going, context);
  if (claim.retried) claim.position = await placeOf(going, context);
  const turn = await context.gate.turn(context.subscription.name, claim);
  if (turn.outcome === 'taken-over') throw takenOver(context.subscription, job);
  if (turn.outcome === 'wait') return park(going, context);
  if (turn.outcome === 'go') return settled(going, context);
  if (turn.next !== null) await promoteParked(context.store, turn.next);
  if (history.death !== null) throw deadLetterError(history.death);
}

async function settled(going: Going, context: RunContext): Promise<void> {
  const { job, token } = going;
  const state = await settle({ ...going, ...context });
  if (state.outcome === 'go') return proceed(going, context);
  if (state.outcome === 'taken-over') throw takenOver(context.subscription, job);
  if (state.outcome === 'nothing') {
    if (state.next !== null) await promote(context.store, state.next);
    return;
  }
  await job.moveToDelayed(state.untilMs, token);
  throw new DelayedError();
}

async function placeOf({ job, token, claim }: Going, { gate, subscription }: RunContext): Promise<string> {
  const revival = await gate.reenter(subscription.name, claim, { token, life: lifeOf(job) });
  if (revival.outcome === 'placed') return revival.position;
  throw takenOver(subscription, job);
}

/** Until when nobody else can have the job: its lock lives for `lockMs` in real time, whatever clock we were given. */
async function holdOn({ job, token }: Going, { subscription, lockMs }: RunContext): Promise<number> {
  const askedAt = systemClock.now();
  if ((await job.extendLock(token, lockMs)) !== 1) throw takenOver(subscription, job);
  return askedAt + lockMs;
}

async function proceed(going: Going, context: RunContext): Promise<void> {
  const { job, interrupt, history } = going;
  const { subscription, logger, clock } = context;
  if (history.death !== null) return die(going, context, history.death);
  if (history.stalls > MOST_STALLS) return die(going, context, rememberStalls(history, clock.now()));
  if (history.batchFailure !== null) return fail(going, context, history.batchFailure);
  if (context.batcher !== undefined) return proceedInBatch(going, context, context.batcher);
  // A process that was stopped since it was told "go" may have lost the event, and its record may be far ahead by now.
  // Between the last look at the time and the handler there must be no `await`.
  let heldUntil = (job.processedOn ?? 0) + context.lockMs;
  while (systemClock.now() >= heldUntil) heldUntil = await holdOn(going, context);
  try {
    const { attempt } = history;
    const { once } = context;
    const parts = { subscription, delivery: job.data, attempt, interrupt, logger, clock, once };
    const returned = await attemptDelivery(parts);
    if (returned !== undefined) context.onReturned(returned);
  } catch (error) {
    return afterFailure(error, going, context);
  }
  await leave(going, context);
}

async function proceedInBatch(going: Going, context: RunContext, batcher: Batcher): Promise<void> {
  const { claim, interrupt } = going;
  const { riders, result } = await travel(going, context, batcher);
  if (result.outcome === 'failed' && result.done === 0) return afterFailure(result.error, going, context);
  const done = result.outcome === 'done' ? riders.length + 1 : result.done;
  const rider = riders[done - 1];
  // Interrupted by us, or the subscription disabled by it: that is no failed try.
  const counts =
    result.outcome === 'failed' && interrupt.cause === null && (await noteFailure(result.error, context)) === 'failing';
  const failed = counts && rider !== undefined ? { rider, ridden: judge(result.error, 1, context) } : undefined;
  await passOn(await endRide({ claim, handled: riders.slice(0, done - 1), failed }, context), going, context);
}

async function travel(going: Going, context: RunContext, batcher: Batcher): Promise<Journey> {
  const { job, claim, history, interrupt } = going;
  const { gate, store, subscription, lockMs } = context;
  try {
    return await batcher.join({
      delivery: job.data,
      attempt: history.attempt,
      heldUntil: (job.processedOn ?? 0) + lockMs,
      holdOn: () => holdOn(going, context),
      // What has to settle first does not ride along.
      followers: async (most) =>
        subscription.settle === undefined ? await gate.followers(subscription.name, claim, most) : [],
      read: (ids) => readParked(store, ids),
    });
  } catch (error) {
    // It has not set out.
    if (interrupt.cause === 'stopping') return giveBack(going);
    throw error;
  }
}

async function afterFailure(error: unknown, going: Going, context: RunContext): Promise<void> {
  const { job, interrupt, history } = going;
  const { subscription } = context;
  if (interrupt.cause === 'lost') throw takenOver(subscription, job);
  // We interrupted it: that is no failed try. The next process finds it at the front of the queue.
  if (interrupt.cause === 'stopping') return giveBack(going);
  // Nor is this one: it is the first to be handled when the subscription is enabled.
  if ((await noteFailure(error, context)) === 'disabled') return giveBack(going);
  return fail(going, context, judge(error, history.attempt, context));
}

function judge(error: unknown, attempt: number, { subscription, clock, random }: RunContext): BatchFailure {
  return {
    failure: recordFailure(error, { attempt, nowMs: clock.now() }),
    verdict: decideRetry(error, { attempt, retry: subscription.retry, random: random() }),
  };
}

async function fail(going: Going, context: RunContext, { failure, verdict }: BatchFailure): Promise<void> {
  const { job } = going;
  const { subscription, logger } = context;
  const { attempt } = failure;
  const facts = { subscription: subscription.name, event: job.id, attempt, error: failure.message, code: failure.code };
  if (verdict.outcome === 'dead') {
    logger.error({ ...facts, because: verdict.because }, 'an event became a dead letter');
    return die(going, context, failure);
  }
  logger.warn({ ...facts, retryInMs: verdict.waitMs }, 'a handler failed; the event will be tried again');
  throw new AttemptFailedError(failure, verdict.waitMs);
}

async function giveBack({ job, token }: Going): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

async function die(going: Going, context: RunContext, failure: FailedAttempt): Promise<never> {
  const { job, token, history } = going;
  if (history.death === null) {
    // Only who still owns the job may write on it.
    if ((await job.extendLock(token, context.lockMs)) !== 1) throw takenOver(context.subscription, job);
    await job.updateProgress(deathAfter(job, failure));
  }
  if (context.subscription.whenDead === 'hold') await hold(going, context);
  else await leave(going, context);
  throw deadLetterError(failure);
}

async function hold({ job, claim }: Going, { gate, subscription }: RunContext): Promise<void> {
  // Without an order nobody waits for it.
  const held =
    claim.group === null ? await gate.leave(subscription.name, claim) : await gate.hold(subscription.name, claim);
  if (held.outcome === 'taken-over') throw takenOver(subscription, job);
}

async function leave(going: Going, context: RunContext): Promise<void> {
  await passOn(await context.gate.leave(context.subscription.name, going.claim), going, context);
}

async function passOn(left: Leave, { job }: Going, { store, subscription }: RunContext): Promise<void> {
  if (left.outcome === 'taken-over') throw takenOver(subscription, job);
  if (left.next !== null) await promote(store, left.next);
}

async function park({ job, token, claim }: Going, { gate, store, subscription, clock }: RunContext): Promise<never> {
  await job.moveToDelayed(clock.now() + PARKED_MS, token);
  // The event ahead may have left while this job was on its way to the delayed set, and found nobody to promote; or have
  // taken this one along.
  const turn = await gate.turn(subscription.name, claim);
  if (turn.outcome !== 'wait') await promote(store, claim.eventId);
  throw new DelayedError();
}

function takenOver({ name }: Subscription, { id }: Job<Delivery>): ChangefeedError {
  return new ChangefeedError('CF_LEASE_LOST', {
    subscription: name,
    event: id,
    message: `Event ${id ?? ''} of "${name}" was taken over by another process, because this one gave no sign of life for too long. What the handler did here is not counted; it runs again there.`,
  });
}

function rememberStalls({ attempt, stalls }: JobHistory, nowMs: number): FailedAttempt {
  const message = `The process was lost ${stalls} times while handling this event. Find out whether the event makes it crash, then retry it.`;
  const error = new ChangefeedError('CF_HANDLER_FAILED', { message });
  return recordFailure(error, { attempt, nowMs });
}
