/**
 * One run of one delivery, from BullMQ's job until BullMQ gets the result: a pipe of steps. docs/internals/delivery.md has
 * the state machine.
 *
 *   claim     is it the head of its group? If not, it has left: a repeat after a crash. Is its wait over?
 *   load      its event, from the log or from its group
 *   settle    (debounce.ts) it waits until its record is quiet, and its followers are merged into it
 *   suspect   its job was lost before: is it the cause of crashes? If not, it waits for its turn (suspects.ts)
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
 *   paused, stopping    the attempt does not count: it stays the head, at the front of the queue
 *   TakenOver (thrown)  another run has it: nothing follows
 *
 * The event leaves its group first: a kill after the report would leave the group waiting for a job that is gone.
 */
import { ChangefeedError } from '../kit/errors.js';
import { systemClock } from '../kit/clock.js';
import { attemptDelivery } from './attempt.js';
import { settle } from './debounce.js';
import type { ClaimedRun, Outcome, Run, RunContext } from './run-state.js';
import { idsOf, loadDelivery } from './deliveries.js';
import { recordFailure } from './failure.js';
import type { Claim } from './groups/gate.js';
import { noteEnd } from './receipts/note.js';
import {
  extendLock,
  isLockOver,
  logFailure,
  outcomeOfFailure,
  report,
  TakenOver,
  waitBefore,
  type GivenRun,
} from './run.js';
import { isCause, judge, type Verdict } from './suspects.js';

const DEAD = 'event became a dead letter';

export async function runDelivery(given: GivenRun, context: RunContext): Promise<void> {
  const outcome = await outcomeOf(given, context);
  await leave(outcome, given, context);
  if (outcome.outcome === 'delivered' || outcome.outcome === 'skipped') return;
  if (outcome.outcome !== 'left') await report(outcome, given);
  else if (outcome.death !== undefined) await report({ outcome: 'dead', failure: outcome.death }, given);
}

async function outcomeOf(given: GivenRun, context: RunContext): Promise<Outcome> {
  const claimed = await claim(given, context);
  if (isOutcome(claimed)) return claimed;
  const loaded = await load(claimed, context);
  if (isOutcome(loaded)) return loaded;
  const settled = context.subscription.settle === undefined ? loaded : await settle(loaded, context);
  if (isOutcome(settled)) return settled;
  const due = await suspect(settled, context);
  if (isOutcome(due)) return due;
  try {
    return await attempt(due, context);
  } finally {
    if (due.noted !== undefined && due.noted.among > 0) context.suspects.ended();
  }
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
  const { gate, subscription, clock, processId } = context;
  const { job, lock } = given;
  const { death, kind } = job.data;
  const own = claimOf(given);
  // The run of a job that was lost before is noted when it is known whether it is a suspect, and may begin.
  const isFirst = job.stalledCounter === 0;
  const run = isFirst ? { process: processId, lost: 0, among: 0, alone: 0, late: 0 } : undefined;
  const askedAtMs = systemClock.monotonic();
  const standing = await gate.standing(subscription.name, own, { run });
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
    before: standing.runBefore,
    attempt: job.attemptsMade + 1,
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

/** @throws TakenOver */
export async function suspect(run: Run, context: RunContext): Promise<Run | Outcome> {
  const { job, attempt: number, beganMs, lock, delivery } = run;
  if (job.stalledCounter === 0) return run;
  const { clock, mostCrashes, suspects, processId } = context;
  const verdict = await judged(run, context);
  const cause = isCause(verdict, mostCrashes);
  if (cause !== null) {
    const message = `${cause} Find out whether the event is the cause, then retry it.`;
    const error = new ChangefeedError('CF_HANDLER_FAILED', { message });
    const failure = recordFailure(error, { attempt: number, nowMs: clock.now() });
    logFailure(error, { facts: factsOf(run, context), ended: DEAD, beganMs, failure, because: 'crashed' }, context);
    return { outcome: 'dead', about: delivery, failure };
  }
  const { most, alone, late } = verdict;
  try {
    const among = most === null ? 0 : await suspects.turn(most, lock.interrupt.signal);
    return { ...run, noted: { process: processId, lost: job.stalledCounter, among, alone, late } };
  } catch (error) {
    if (lock.interrupt.cause === 'lost') throw new TakenOver();
    if (lock.interrupt.cause === 'stopping') return { outcome: 'stopping' };
    throw error;
  }
}

/** Whether its last run was lost, and what that says about the event. */
async function judged({ job, claim: own, before }: Run, { lives, tallies }: RunContext): Promise<Verdict> {
  const isLost = before !== null && before.lost < job.stalledCounter;
  const verdict = judge(before, job.stalledCounter, !isLost || (await lives(before.process)));
  if (verdict.last !== 'ended') tallies[verdict.last].add({ ...idsOf(own.id), process: before?.process });
  return verdict;
}

/** @throws TakenOver */
export async function attempt(run: Run, context: RunContext): Promise<Outcome> {
  const { clock, failing, gate, subscription, logger, once, surroundingsOf } = context;
  const { lock, attempt: number, delivery, beganMs, noted } = run;
  if (noted !== undefined) {
    await extendLock(run, context);
    await gate.note(subscription.name, run.claim.id, noted);
  }
  // A process that was suspended may have lost the event, and others of the record may have run.
  while (isLockOver(run)) await extendLock(run, context);
  const startedMs = clock.monotonic();
  try {
    const { interrupt } = lock;
    // Not all of the context, whose copy would be most of what an attempt allocates.
    const shared = { subscription, clock, logger, once, surroundingsOf };
    const result = await attemptDelivery({ delivery, attempt: number, interrupt, ...shared });
    if (result.outcome === 'skipped') return { outcome: 'skipped', about: delivery, why: 'where' };
    failing.over();
    const ms = clock.monotonic() - startedMs;
    return { outcome: 'delivered', about: delivery, attempt: number, ms, status: result.status };
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
    case 'stopping':
      return STAYS;
  }
}

function factsOf({ claim: { workspace }, delivery }: Run, { subscription }: RunContext): object {
  return { workspace, subscription: subscription.name, ...idsOf(delivery.id, delivery.event.id) };
}
