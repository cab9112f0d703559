/**
 * One run of one delivery, from BullMQ's job until BullMQ gets the result: a pipe of steps. docs/internals/delivery.md has
 * the state machine.
 *
 *   claim     is it the head of its group? If not, it has left: a repeat after a crash. Is its wait over?
 *   load      its event, from the log or from its group
 *   settle    (debounce.ts) it waits until its record is quiet, and its followers are merged into it
 *   crashed   are its attempts used up by processes that were lost while they handled it?
 *   turn      (turn.ts) it waits until its destination may have it
 *   attempt   the handler is called
 *   leave     its receipt is kept, it leaves its group, and the next head gets its job
 *   report    BullMQ completes, delays, fails or requeues the job (run.ts)
 *
 * A step before `leave` returns the run for the next step, or its outcome: then the steps up to `leave` are left out.
 *
 *   delivered           receipt, leave, next head
 *   skipped             the same; its handler was not called
 *   dead                the death is written on the job; receipt, leave or hold, next head
 *   retry               receipt; it stays the head, and BullMQ delays it by the policy
 *   left                next head
 *   waits               it stays the head, and BullMQ delays it
 *   rests               it stays the head, at the front of the queue, which rests
 *   paused, stopping    the attempt does not count: it stays the head, at the front of the queue
 *   TakenOver (thrown)  another run has it: nothing follows
 *
 * The event leaves its group first: a kill after the report would leave the group waiting for a job that is gone.
 */
import { ChangefeedError } from '../../kit/errors.js';
import { systemClock } from '../../kit/clock.js';
import { attemptDelivery } from './attempt.js';
import { settle } from './debounce.js';
import type { ClaimedRun, Outcome, Run, RunContext } from './run-state.js';
import { idsOf, loadDelivery } from '../deliveries.js';
import { recordFailure } from '../failure.js';
import type { Claim } from '../groups/gate.js';
import { noteEnd } from '../receipts/note.js';
import {
  extendLock,
  isLockOver,
  logFailure,
  numberOf,
  outcomeOfFailure,
  report,
  TakenOver,
  waitBefore,
  type GivenRun,
} from './run.js';
import { endTurn, hasTurn, waitForTurn } from './turn.js';

const DEAD = 'event became a dead letter';

export async function runDelivery(given: GivenRun, context: RunContext): Promise<void> {
  const outcome = await outcomeOf(given, context);
  await leave(outcome, given, context);
  if (outcome.outcome === 'delivered' || outcome.outcome === 'skipped') return;
  if (outcome.outcome !== 'left') await report(outcome, given, context);
  else if (outcome.death !== undefined) await report({ outcome: 'dead', failure: outcome.death }, given, context);
}

async function outcomeOf(given: GivenRun, context: RunContext): Promise<Outcome> {
  const claimed = await claim(given, context);
  if (isOutcome(claimed)) return claimed;
  const loaded = await load(claimed, context);
  if (isOutcome(loaded)) return loaded;
  const settled = context.subscription.settle === undefined ? loaded : await settle(loaded, context);
  if (isOutcome(settled)) return settled;
  return crashed(settled, context) ?? (await inTurn(settled, context));
}

/** @throws TakenOver */
async function inTurn(run: Run, context: RunContext): Promise<Outcome> {
  const turn = await waitForTurn(run, run.attempt, context);
  if (!hasTurn(turn)) return turn;
  const outcome = await attempt(run, context);
  if (outcome.outcome !== 'stopping') await endTurn(turn, run, context);
  return outcome;
}

function isOutcome(step: ClaimedRun | Outcome): step is Outcome {
  return 'outcome' in step;
}

function claimOf({ job, lock }: GivenRun): Claim {
  const { workspace, group } = job.data;
  return { workspace, group, id: job.id ?? '', token: lock.token };
}

/** @throws TakenOver */
export async function claim(given: GivenRun, context: RunContext): Promise<ClaimedRun | Outcome> {
  const { gate, subscription, clock } = context;
  const { job, lock } = given;
  const { death, kind } = job.data;
  const own = claimOf(given);
  const askedAtMs = systemClock.monotonic();
  const standing = await gate.standing(subscription.name, own);
  if (standing.outcome === 'taken-over') throw new TakenOver();
  if (standing.outcome === 'left') return { ...standing, ...(death && { death: death.failure }) };
  lock.untilMs = Math.max(lock.untilMs, askedAtMs + standing.lockedForMs);
  // A process was lost after it had written the death.
  if (death !== undefined) {
    const { failure, ...event } = death;
    return { outcome: 'dead', about: { ...job.data, ...event, id: own.id }, failure };
  }
  const waitMs = await waitBefore(given, context);
  if (waitMs > 0) return { outcome: 'waits', waitMs };
  return {
    job,
    lock,
    claim: own,
    // A merge may have been stored since the job was added.
    kind: standing.entries[0]?.kind ?? kind,
    attempt: numberOf(job),
    beganMs: clock.now(),
  };
}

/** The event is gone where the log has dropped it while the subscription was paused, or where the log was lost. */
export async function load(run: ClaimedRun, context: RunContext): Promise<Run | Outcome> {
  const { job, claim: own, kind } = run;
  const { workspace, logId } = job.data;
  const delivery = await loadDelivery({ id: own.id, logId, kind }, workspace, context);
  if (delivery !== null) return { ...run, delivery };
  const ids = idsOf(own.id);
  const facts = { workspace, subscription: context.subscription.name, ...ids };
  context.logger.error(facts, 'event is no longer in the log, it is not handled');
  const event = { id: ids.eventId, type: job.name, subject: '' };
  return { outcome: 'skipped', why: 'gone', about: { id: own.id, workspace, logId, event } };
}

/** A crash is an attempt of all that was in flight: which event was the cause is not known, and one that always is must not go on. */
function crashed({ job, attempt: number, beganMs, delivery, ...run }: Run, context: RunContext): Outcome | null {
  const { clock, subscription } = context;
  if (job.stalledCounter === 0 || number <= subscription.retry.attempts) return null;
  const times = job.stalledCounter === 1 ? 'once' : `${job.stalledCounter} times`;
  const message = `The process crashed ${times} while it handled this event, or did not respond for longer than its lock. Find out whether the event is the cause, then retry it.`;
  const error = new ChangefeedError('CF_HANDLER_FAILED', { message });
  const failure = recordFailure(error, { attempt: number - 1, nowMs: clock.now() });
  const facts = factsOf({ ...run, delivery }, context);
  logFailure(error, { facts, ended: DEAD, beganMs, failure, because: 'crashed' }, context);
  return { outcome: 'dead', about: delivery, failure };
}

/** @throws TakenOver */
export async function attempt(run: Run, context: RunContext): Promise<Outcome> {
  const { clock, failing, subscription, logger, once, surroundingsOf } = context;
  const { lock, attempt: number, delivery, beganMs } = run;
  // A process that was suspended may have lost the event, and others of the record may have run.
  while (isLockOver(run)) await extendLock(run, context);
  const startedMs = clock.monotonic();
  try {
    const { interrupt } = lock;
    // Not all of the context, whose copy would be most of what an attempt allocates.
    const shared = { subscription, clock, logger, once, surroundingsOf };
    const result = await attemptDelivery({ delivery, attempt: number, interrupt, ...shared });
    if (result.outcome === 'skipped') return { ...result, about: delivery };
    failing.over();
    const ms = clock.monotonic() - startedMs;
    return { ...result, outcome: 'delivered', about: delivery, attempt: number, ms };
  } catch (error) {
    const ms = clock.monotonic() - startedMs;
    const attempted = { attempt: number, beganMs, ms, facts: factsOf(run, context), ended: DEAD };
    const failed = await outcomeOfFailure(error, run, attempted, context);
    return failed.outcome === 'stopping' ? failed : { about: delivery, ...failed };
  }
}

/** @throws TakenOver */
export async function leave(ended: Outcome, given: GivenRun, context: RunContext): Promise<void> {
  const own = claimOf(given);
  if (ended.outcome === 'dead') await writeDeath(ended, given, context);
  const answer = await askToLeave(ended, own, context);
  if (answer.outcome === 'taken-over') throw new TakenOver();
  if (answer.outcome !== 'left' || answer.next === null) return;
  await context.addJob({ workspace: own.workspace, group: own.group, entry: answer.next });
}

/** After a kill, the job becomes a dead letter without another attempt. */
async function writeDeath(
  { about: { event, earlierAttempts = [] }, failure }: Extract<Outcome, { outcome: 'dead' }>,
  given: GivenRun,
  context: RunContext,
): Promise<void> {
  const { job } = given;
  if (job.data.death !== undefined) return;
  await extendLock(given, context);
  await job.updateData({ ...job.data, death: { event, earlierAttempts, failure } });
}

const STAYS = { outcome: 'head' } as const;

/** One script: the receipt, the event out of its group, and the next head. */
async function askToLeave(ended: Outcome, own: Claim, context: RunContext) {
  const { gate, clock, subscription } = context;
  const { name, whenDead } = subscription;
  switch (ended.outcome) {
    case 'delivered':
      return await gate.handled(name, own, noteEnd([ended.about], ended, context));
    case 'skipped':
      return await (ended.why === 'gone' ? gate.drop : gate.advance)(name, own, noteEnd([ended.about], ended, context));
    case 'dead': {
      const noted = noteEnd([ended.about], ended, context);
      const isHeld = whenDead === 'hold' && own.group !== null;
      return await (isHeld ? gate.hold(name, own, noted) : gate.drop(name, own, noted));
    }
    case 'retry':
    case 'paused': {
      const nextAtMs = ended.outcome === 'retry' ? clock.now() + ended.waitMs : undefined;
      const noted = noteEnd([ended.about], { outcome: 'retry', failure: ended.failure, nextAtMs }, context);
      return noted === undefined ? STAYS : await gate.failed(name, own, noted);
    }
    case 'left':
      return ended;
    case 'waits':
    case 'rests':
    case 'stopping':
      return STAYS;
  }
}

function factsOf(
  { claim: { workspace }, delivery }: Pick<Run, 'claim' | 'delivery'>,
  { subscription }: RunContext,
): object {
  return { workspace, subscription: subscription.name, ...idsOf(delivery.id, delivery.event.id) };
}
