/**
 * One run of one delivery, from BullMQ's job until BullMQ gets the result. docs/fan-out.md shows the state machine.
 *
 *   standing ──not the head──> it has left (a repeat after a crash): add the present head's job, report the result
 *    │
 *   head ──debounce──> delayed until the record is quiet; then followers are merged into it (debounce.ts)
 *    │
 *    handler
 *    │ └──────fails──> subscription disabled? back to the front of the paused queue (circuit-breaker.ts)
 *    │                  decide ──retry──> BullMQ delays it; it stays the head of its group
 *    │                    └──────dead──> write the death on the job, leave the group (or hold it), become a dead letter
 *    advance: leave the group, add the job of the next head, complete
 *
 * The event leaves its group first: a kill after the result would leave the group waiting for a job that is gone.
 */
import { DelayedError, WaitingError, type Job } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import { partsOf } from '../handlers/errors.js';
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { Episode } from '../runtime/episode.js';
import { gather } from '../runtime/gather.js';
import type { Unfinished } from '../runtime/unfinished.js';
import { placeIn } from '../runtime/user-frame.js';
import { attemptDelivery, Interrupt } from './attempt.js';
import { noteFailure } from './circuit-breaker.js';
import { debounce } from './debounce.js';
import { addJobs, idsOf, type Delivery } from './deliveries.js';
import { AttemptFailedError, deadLetterError, decideRetry, recordFailure, type FailedAttempt } from './failure.js';
import type { ComparisonOf } from './merge-changes.js';
import type { EventLog } from '../state/event-log.js';
import type { AdvanceOutcome, Claim, GroupEntry, HeadJob, RecordGate } from '../state/gate.js';
import type { HealthStore } from '../state/health.js';
import type { OnceStore } from '../state/once.js';
import type { QueueHandle, JobData } from './queues.js';

/** A job's progress, written as the only suspect begins. In its data, a process that lost it could undo a death. */
interface Alone {
  attempt: number;
  /** BullMQ's count of lost processes at that time. */
  lostBefore: number;
  /** How many of them were lost during such attempts. */
  crashes: number;
}

/** How soon a suspect asks again whether another runs. In BullMQ: here it would be in flight at the next crash. */
const SUSPECT_WAIT_MS = 200;

export interface HandlingContext {
  log: EventLog;
  gate: RecordGate;
  once: OnceStore;
  health: HealthStore;
  logger: Log;
  clock: Clock;
  unfinished: Unfinished;
  /** How detection compares the records of a list, for debounce. @defaultValue of a list without options */
  comparisonOf?: ComparisonOf | undefined;
}

export interface RunOptions extends HandlingContext {
  subscription: Subscription;
  /** The suspects of all subscriptions of the process. */
  suspects: { isOneRunning: boolean };
  /** How long a job's lock lasts unless it is extended, ms. */
  lockMs: number;
  /** After so many processes that were lost while they handled it, an event becomes a dead letter. */
  mostCrashes: number;
  queue: () => QueueHandle;
  /** Its failures in this process since the last success. */
  failing: Episode;
}

interface RunContext extends RunOptions {
  addJob: (head: HeadJob) => Promise<void>;
}

export function createRuns(options: RunOptions) {
  const { subscription, unfinished, queue } = options;
  const running = new Map<string, Interrupt>();
  let isStopping = false;
  // Jobs that are added in the same turn of the event loop are one pipeline.
  const addJob = gather(async (heads: readonly HeadJob[]) => {
    await addJobs(queue(), heads);
    return [];
  });
  const context = { ...options, addJob };
  return {
    run: async (job: Job<JobData>, token = ''): Promise<void> => {
      const interrupt = new Interrupt();
      if (isStopping) interrupt.abort('stopping');
      const id = job.id ?? '';
      running.set(id, interrupt);
      try {
        await unfinished.during(`handling of "${subscription.name}"`, () =>
          runDelivery({ job, token, interrupt }, context),
        );
      } finally {
        if (running.get(id) === interrupt) running.delete(id);
      }
    },
    /** Another process has these jobs. */
    lost(ids: readonly string[]): void {
      for (const id of ids) running.get(id)?.abort('lost');
    },
    /** Aborts the signals of the handlers. Their attempts do not count. */
    interrupt(): void {
      isStopping = true;
      for (const one of running.values()) one.abort('stopping');
    },
  };
}

interface GivenRun {
  job: Job<JobData>;
  token: string;
  interrupt: Interrupt;
}

interface Run extends GivenRun {
  claim: Claim;
  delivery: Delivery;
  /** 1 for the first attempt. */
  attempt: number;
  beganMs: number;
}

export const HANDLER_FAILED = 'handler failed, the event will be retried';

async function runDelivery(given: GivenRun, context: RunContext): Promise<void> {
  const { job, token, interrupt } = given;
  const { workspace, group, death } = job.data;
  const id = job.id ?? '';
  const claim: Claim = { workspace, group, id, token };
  const [standing, loaded] = await Promise.all([
    context.gate.standing(context.subscription.name, claim),
    death === undefined ? load({ id, ...job.data }, claim, context) : null,
  ]);
  if (standing.outcome === 'left') {
    await follow(standing, claim, context);
    if (death !== undefined) throw deadLetterError(death.failure);
    return;
  }
  // A process was lost after it had written the death.
  if (death !== undefined) return endDead(death.failure, claim, context);
  const kind = standing.entries[0]?.kind ?? job.data.kind;
  // A merge was stored since the job was added.
  const delivery = kind === job.data.kind ? loaded : await load({ id, ...job.data, kind }, claim, context);
  if (delivery === null) {
    const facts = { workspace, subscription: context.subscription.name, ...idsOf(id) };
    context.logger.error(facts, 'event is no longer in the log, it is not handled');
    return leave(claim, context);
  }
  const attempt = job.attemptsMade + 1;
  const run: Run = { job, token, interrupt, claim, delivery, attempt, beganMs: context.clock.now() };
  const settled = kind === 'decided' ? run : await settle(run, context);
  if (settled !== null) await handle(settled, context);
}

/** Null: dropped from the log while the subscription was disabled, or the log was lost. */
async function load(
  { id, logId, kind }: Pick<GroupEntry, 'id' | 'logId' | 'kind'>,
  { workspace }: Claim,
  { log, gate, subscription }: RunContext,
): Promise<Delivery | null> {
  const stored = kind === 'logged' ? await log.event(workspace, logId) : await gate.stored(subscription.name, id);
  return stored === null ? null : { ...stored, id, workspace, logId };
}

/** Up to the first that is gone. */
async function loadAll(entries: readonly GroupEntry[], claim: Claim, context: RunContext): Promise<Delivery[]> {
  const all = await Promise.all(entries.map((entry) => load(entry, claim, context)));
  const end = all.indexOf(null);
  return all.slice(0, end === -1 ? all.length : end).filter((one) => one !== null);
}

/** Null: it has left its group. Its changes cancel out, or the subscription does not select the merged event. */
async function settle(run: Run, context: RunContext): Promise<Run | null> {
  const { claim, delivery, attempt } = run;
  const { settle: settling } = context.subscription;
  // An event that was attempted before `settle` was switched on stays the event it was.
  if (settling === undefined || attempt > 1) return run;
  const load = (entries: readonly GroupEntry[]): Promise<Delivery[]> => loadAll(entries, claim, context);
  const result = await debounce(settling, { ...context, claim, delivery, load });
  if (result.outcome === 'go') return { ...run, delivery: result.delivery };
  if (result.outcome === 'wait') return putOff(run, result.untilMs);
  await follow(result, claim, context);
  return null;
}

/** Extends the job's lock. Returns until when it lasts, in real time: the lock does not follow `clock`. */
async function extendLock({ job, token, claim }: Run, { subscription, lockMs }: RunContext): Promise<number> {
  const askedAt = systemClock.now();
  if ((await job.extendLock(token, lockMs)) !== 1) throw takenOver(subscription, claim);
  return askedAt + lockMs;
}

async function handle(run: Run, context: RunContext): Promise<void> {
  const { clock, logger, suspects } = context;
  const crashes = crashesOf(run);
  if (crashes >= context.mostCrashes) {
    const message = `The process was lost, or did not respond, ${crashes} times while it handled this event, the last ${crashes - 1} times with no other suspect. Find out whether the event makes it crash, then retry it.`;
    const failure = recordFailure(new ChangefeedError('CF_HANDLER_FAILED', { message }), {
      attempt: run.attempt,
      nowMs: clock.now(),
    });
    logger.error({ ...factsOf(run, context), error: message }, 'event became a dead letter');
    return bury(run, context, failure);
  }
  if (run.job.stalledCounter === 0) return attemptNow(run, context);
  if (suspects.isOneRunning) return putOff(run, clock.now() + SUSPECT_WAIT_MS);
  suspects.isOneRunning = true;
  try {
    await noteAlone(run, context);
    await attemptNow(run, context);
  } finally {
    suspects.isOneRunning = false;
  }
}

/** The first crash, with others in flight, and those since then while the event was handled alone. */
function crashesOf({ job, attempt }: Run): number {
  // BullMQ begins with the number 0.
  const alone = typeof job.progress === 'object' ? (job.progress as Alone) : undefined;
  if (alone === undefined) return Math.min(job.stalledCounter, 1);
  const wasLostAlone = alone.attempt === attempt && job.stalledCounter > alone.lostBefore;
  return 1 + alone.crashes + (wasLostAlone ? 1 : 0);
}

/** From here on, a lost process counts as a crash of this event. */
async function noteAlone(run: Run, context: RunContext): Promise<void> {
  const { job, attempt } = run;
  // Only the process that still holds the lock may write on the job.
  await extendLock(run, context);
  const alone: Alone = { attempt, lostBefore: job.stalledCounter, crashes: crashesOf(run) - 1 };
  await job.updateProgress(alone);
}

async function attemptNow(run: Run, context: RunContext): Promise<void> {
  const { job, claim, interrupt, attempt, delivery } = run;
  // A process that was suspended may have lost the event, and others of the record may have run. There must be no
  // `await` between the last check of the lock and the handler.
  let lockedUntil = (job.processedOn ?? 0) + context.lockMs;
  while (systemClock.now() >= lockedUntil) lockedUntil = await extendLock(run, context);
  try {
    await attemptDelivery({ ...context, delivery, attempt, interrupt });
  } catch (error) {
    return afterFailure(error, run, context);
  }
  context.failing.over();
  await leave(claim, context);
}

async function afterFailure(error: unknown, run: Run, context: RunContext): Promise<void> {
  const { claim, interrupt } = run;
  if (interrupt.cause === 'lost') throw takenOver(context.subscription, claim);
  // We interrupted it, so the attempt does not count. The next process finds the job at the front of the queue.
  if (interrupt.cause === 'stopping') return requeue(run);
  const health = await noteFailure(error, claim.workspace, { ...context, queue: context.queue() });
  // This attempt does not count either: the event is the first to be handled when the subscription is enabled.
  if (health === 'disabled') return requeue(run);
  return fail(error, run, context);
}

async function fail(thrown: unknown, run: Run, context: RunContext): Promise<never> {
  const { subscription, logger, failing, clock } = context;
  const { attempt, beganMs } = run;
  const failure = recordFailure(thrown, { attempt, nowMs: clock.now() });
  const { message: said, code, frames } = failure;
  const { known: error } = partsOf(thrown);
  const facts = { ...factsOf(run, context), attempt, error, at: placeIn(frames.join('\n')), code };
  if (said !== error) logger.debug({ ...facts, error: said }, 'what was said when an attempt failed');
  const decision = decideRetry(thrown, { attempt, retry: subscription.retry, random: Math.random() });
  if (decision.outcome === 'dead') {
    logger.error({ ...facts, because: decision.because }, 'event became a dead letter');
    return bury(run, context, failure);
  }
  const retried = { ...facts, retryInMs: decision.waitMs };
  // An attempt that began before the last success says nothing new: the endpoint was away when it was tried.
  const isOld = !failing.holds && failing.explains(beganMs);
  if (isOld || !failing.failed(retried, { kind: code ?? '' })) logger.debug(retried, HANDLER_FAILED);
  throw new AttemptFailedError(failure, decision.waitMs);
}

async function putOff({ job, token }: Run, untilMs: number): Promise<never> {
  await job.moveToDelayed(untilMs, token);
  throw new DelayedError();
}

async function requeue({ job, token }: Run): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

/** The death first: after a kill, the job becomes a dead letter without another attempt. */
async function bury(run: Run, context: RunContext, failure: FailedAttempt): Promise<never> {
  const { job, claim, delivery } = run;
  // Only the process that still holds the lock may write on the job.
  await extendLock(run, context);
  const { event, earlierAttempts = [] } = delivery;
  await job.updateData({ ...job.data, death: { event, earlierAttempts, failure } });
  return endDead(failure, claim, context);
}

async function endDead(failure: FailedAttempt, claim: Claim, context: RunContext): Promise<never> {
  const { subscription, gate } = context;
  const isHeld = subscription.whenDead === 'hold' && claim.group !== null;
  const answer = await (isHeld ? gate.hold(subscription.name, claim) : gate.advance(subscription.name, claim));
  await follow(answer, claim, context);
  throw deadLetterError(failure);
}

async function leave(claim: Claim, context: RunContext): Promise<void> {
  await follow(await context.gate.advance(context.subscription.name, claim), claim, context);
}

async function follow(answer: AdvanceOutcome | { outcome: 'held' }, claim: Claim, context: RunContext): Promise<void> {
  if (answer.outcome === 'taken-over') throw takenOver(context.subscription, claim);
  if (answer.outcome === 'held' || answer.next === null) return;
  await context.addJob({ workspace: claim.workspace, group: claim.group, entry: answer.next });
}

function takenOver({ name }: Subscription, { id }: Claim): ChangefeedError {
  return new ChangefeedError('CF_LEASE_LOST', {
    subscription: name,
    event: id,
    message: `Event ${id} of "${name}" was taken over by another process, because this process did not respond for longer than the lock. The result of the handler here does not count; the other process handles the event again.`,
  });
}

function factsOf({ claim: { workspace }, delivery }: Run, { subscription }: RunContext): object {
  return { workspace, subscription: subscription.name, ...idsOf(delivery.id, delivery.event.id) };
}
