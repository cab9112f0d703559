/**
 * One run of one delivery, from BullMQ's job until BullMQ gets the result. docs/internals/delivery.md shows the state machine.
 *
 *   standing ──not the head──> it has left (a repeat after a crash): add the present head's job, report the result
 *    │
 *   head ──debounce──> delayed until the record is quiet; then followers are merged into it (debounce.ts)
 *    │
 *    handler
 *    │ └──────fails──> subscription paused? back to the front of the paused queue (circuit-breaker.ts)
 *    │                  decide ──retry──> BullMQ delays it; it stays the head of its group
 *    │                    └──────dead──> write the death on the job, leave the group (or hold it), become a dead letter
 *    advance: leave the group, add the job of the next head, complete
 *
 * The event leaves its group first: a kill after the result would leave the group waiting for a job that is gone.
 * A run that has lost its lock ends without a result: another one has the event.
 */
import { DelayedError, WaitingError, type Job } from 'bullmq';
import { ChangefeedError } from '../kit/errors.js';
import { systemClock } from '../kit/clock.js';
import { gather } from '../kit/gather.js';
import { Tally } from '../kit/tally.js';
import { attemptDelivery, Interrupt, type AttemptResult } from './attempt.js';
import { debounce } from './debounce.js';
import { addJobs, idsOf, type Delivery } from './deliveries.js';
import { isDigestJob } from './digest-job.js';
import { AttemptFailedError, deadLetterError, recordFailure, type FailedAttempt } from './failure.js';
import type { AdvanceOutcome, Claim, GroupEntry, HeadJob } from './groups/gate.js';
import type { JobData } from './queues.js';
import { noteEnd, type Ended, type Noted } from './receipts/note.js';
import {
  countFailure,
  extendLock,
  holdLock,
  requeue,
  TakenOver,
  waitAfter,
  type GivenRun,
  type Lock,
  type RunOptions,
} from './run.js';
import { runDigest } from './run-digest.js';
import { isCause, judge, packRun, runIn, type NotedRun, type Verdict } from './suspects.js';

interface RunContext extends RunOptions {
  addJob: (head: HeadJob) => Promise<void>;
  tallies: Tallies;
}

type ExtendLocks = (ids: string[], tokens: string[], lockMs: number) => Promise<string[]>;

export function createRuns(options: RunOptions) {
  const { subscription, unfinished, queue, lockMs, gate } = options;
  const running = new Map<string, Lock>();
  const tallies = talliesOf(options);
  let isStopping = false;
  // Jobs that are added in the same turn of the event loop are one pipeline.
  const addJob = gather(async (heads: readonly HeadJob[]) => {
    await addJobs(queue(), heads);
    return [];
  });
  const context = { ...options, addJob, tallies };
  return {
    run: async (job: Job<JobData>, token = ''): Promise<void> => {
      const interrupt = new Interrupt();
      if (isStopping) interrupt.abort('stopping');
      const id = job.id ?? '';
      const lock: Lock = { token, interrupt, untilMs: Number.NEGATIVE_INFINITY };
      // An earlier run here has lost it, and may not know yet.
      running.get(id)?.interrupt.abort('lost');
      running.set(id, lock);
      try {
        await unfinished.during(`handling of "${subscription.name}"`, () =>
          isDigestJob(job) ? runDigest({ job, lock }, context) : runDelivery({ job, lock }, context),
        );
      } catch (error) {
        if (!(error instanceof TakenOver)) throw error;
        tallies.overtaken.add(idsOf(id));
        // BullMQ then leaves the job to the run that has it, or will have it.
        throw new WaitingError();
      } finally {
        if (running.get(id) === lock) running.delete(id);
      }
    },
    /** BullMQ's own renewal follows the wall clock, and renews no lock after a step back. */
    async renewLocks(extend: ExtendLocks): Promise<void> {
      const held = [...running].filter(([, { interrupt }]) => interrupt.cause !== 'lost');
      if (held.length === 0) return;
      const askedAtMs = systemClock.monotonic();
      const [ids, tokens] = [held.map(([id]) => id), held.map(([, { token }]) => token)];
      const lost = new Set(await extend(ids, tokens, lockMs));
      for (const [id, lock] of held) {
        if (lost.has(id)) lock.interrupt.abort('lost');
        else lock.untilMs = askedAtMs + lockMs;
      }
    },
    /** Aborts the signals of the handlers. Their attempts do not count. */
    interrupt(): void {
      isStopping = true;
      for (const { interrupt } of running.values()) interrupt.abort('stopping');
    },
    /** Leaves the running handlers behind: their process has not crashed. */
    leaveBehind: () => gate.forgetRuns(subscription.name, [...running.keys()]),
    close: () => Object.values(tallies).forEach((tally) => tally.close()),
  };
}

type Tallies = Record<'overtaken' | 'late' | 'crashed', Tally>;

function talliesOf({ logger, subscription: { name } }: RunOptions): Tallies {
  const warn = (message: string) => new Tally((facts) => logger.warn({ subscription: name, ...facts }, message));
  return {
    overtaken: warn('this process did not respond for too long: events it was handling go to another run'),
    late: warn('events are handled again: their process did not respond for too long, but lives'),
    crashed: warn('process lost while handling events, they will be handled again'),
  };
}

interface Run extends GivenRun {
  claim: Claim;
  delivery: Delivery;
  /** The last run that has begun it. */
  before: NotedRun | null;
  /** 1 for the first attempt. */
  attempt: number;
  beganMs: number;
}

async function runDelivery({ job, lock }: GivenRun, context: RunContext): Promise<void> {
  const { subscription, processId, logger } = context;
  const { workspace, group, death } = job.data;
  const id = job.id ?? '';
  const claim: Claim = { workspace, group, id, token: lock.token };
  // The run of a job that was lost before is noted when it is known whether it is a suspect, and may begin.
  const run = job.stalledCounter === 0 ? packRun({ process: processId, lost: 0, among: 0, alone: 0, late: 0 }) : '';
  const askedAtMs = systemClock.monotonic();
  const [standing, loaded] = await Promise.all([
    context.gate.standing(subscription.name, claim, { run }),
    death === undefined ? load({ id, ...job.data }, claim, context) : null,
  ]);
  if (standing.outcome !== 'head') {
    await follow(standing, claim, context);
    if (death !== undefined) throw deadLetterError(death.failure);
    return;
  }
  lock.untilMs = Math.max(lock.untilMs, askedAtMs + standing.lockedForMs);
  // A process was lost after it had written the death.
  if (death !== undefined) return endDead(death.failure, { ...job.data, id, event: death.event }, claim, context);
  const kind = standing.entries[0]?.kind ?? job.data.kind;
  // A merge was stored since the job was added.
  const delivery = kind === job.data.kind ? loaded : await load({ id, ...job.data, kind }, claim, context);
  if (delivery === null) {
    const facts = { workspace, subscription: subscription.name, ...idsOf(id) };
    logger.error(facts, 'event is no longer in the log, it is not handled');
    const event = { id: idsOf(id).eventId, type: job.name, subject: '' };
    return skip({ ...job.data, id, event }, 'gone', claim, context);
  }
  const before = runIn(standing.runBefore);
  const attempt = job.attemptsMade + 1;
  const begun: Run = { job, lock, claim, delivery, before, attempt, beganMs: context.clock.now() };
  const settled = kind === 'decided' ? begun : await settle(begun, context);
  if (settled !== null) await handle(settled, context);
}

/** Null: dropped from the log while the subscription was paused, or the log was lost. */
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

async function handle(run: Run, context: RunContext): Promise<void> {
  const { clock, logger, mostCrashes, suspects } = context;
  const { job, attempt } = run;
  if (job.stalledCounter === 0) return attemptNow(run, context);
  const verdict = await judged(run, context);
  const crashed = isCause(verdict, mostCrashes);
  if (crashed !== null) {
    const message = `${crashed} Find out whether the event is the cause, then retry it.`;
    const failure = recordFailure(new ChangefeedError('CF_HANDLER_FAILED', { message }), {
      attempt,
      nowMs: clock.now(),
    });
    logger.error({ ...factsOf(run, context), error: message }, 'event became a dead letter');
    return bury(run, context, failure);
  }
  const among = verdict.most === null ? 0 : await turnOf(verdict.most, run, context);
  try {
    await extendLock(run, context);
    const { alone, late } = verdict;
    const noted = packRun({ process: context.processId, lost: job.stalledCounter, among, alone, late });
    await context.gate.note(context.subscription.name, run.claim.id, noted);
    await attemptNow(run, context);
  } finally {
    if (among > 0) suspects.ended();
  }
}

/** Whether its last run was lost, and what that says about the event. */
async function judged({ job, claim, before }: Run, { lives, tallies }: RunContext): Promise<Verdict> {
  const isLost = before !== null && before.lost < job.stalledCounter;
  const verdict = judge(before, job.stalledCounter, !isLost || (await lives(before.process)));
  if (verdict.last !== 'ended') tallies[verdict.last].add({ ...idsOf(claim.id), process: before?.process });
  return verdict;
}

async function turnOf(most: number, run: Run, { suspects }: RunContext): Promise<number> {
  const { interrupt } = run.lock;
  try {
    return await suspects.turn(most, interrupt.signal);
  } catch (error) {
    if (interrupt.cause === 'lost') throw new TakenOver();
    if (interrupt.cause === 'stopping') return requeue(run);
    throw error;
  }
}

async function attemptNow(run: Run, context: RunContext): Promise<void> {
  const { claim, lock, attempt, delivery } = run;
  // A process that was suspended may have lost the event, and others of the record may have run.
  await holdLock(run, context);
  const startedMs = context.clock.monotonic();
  const tookMs = (): number => context.clock.monotonic() - startedMs;
  let result: AttemptResult;
  try {
    result = await attemptDelivery({ ...context, delivery, attempt, interrupt: lock.interrupt });
  } catch (error) {
    return afterFailure(error, { ...run, ms: tookMs() }, context);
  }
  if (result.outcome === 'skipped') return skip(delivery, 'where', claim, context);
  context.failing.over();
  const ended = { outcome: 'delivered', attempt, ms: tookMs(), status: result.status } as const;
  const noted = noteEnd([delivery], ended, context);
  await follow(await context.gate.handled(context.subscription.name, claim, noted), claim, context);
}

async function afterFailure(error: unknown, run: Run & { ms: number }, context: RunContext): Promise<void> {
  const { attempt, ms } = run;
  const health = await countFailure(error, run, context);
  const failure = recordFailure(error, { attempt, nowMs: context.clock.now(), ms });
  if (health === 'paused') {
    await noteRetry(run, { outcome: 'retry', failure }, context);
    return requeue(run);
  }
  const facts = factsOf(run, context);
  const waitMs = waitAfter(error, { ...run, failure, facts, ended: 'event became a dead letter' }, context);
  if (waitMs === null) return bury(run, context, failure);
  await noteRetry(run, { outcome: 'retry', failure, nextAtMs: context.clock.now() + waitMs }, context);
  throw new AttemptFailedError(failure, waitMs);
}

async function noteRetry({ delivery, claim }: Run, ended: Ended, context: RunContext): Promise<void> {
  const noted = noteEnd([delivery], ended, context);
  if (noted === undefined) return;
  const { outcome } = await context.gate.failed(context.subscription.name, claim, noted);
  if (outcome === 'taken-over') throw new TakenOver();
}

async function putOff({ job, lock }: Run, untilMs: number): Promise<never> {
  await job.moveToDelayed(untilMs, lock.token);
  throw new DelayedError();
}

/** The death first: after a kill, the job becomes a dead letter without another attempt. */
async function bury(run: Run, context: RunContext, failure: FailedAttempt): Promise<never> {
  const { job, claim, delivery } = run;
  await extendLock(run, context);
  const { event, earlierAttempts = [] } = delivery;
  await job.updateData({ ...job.data, death: { event, earlierAttempts, failure } });
  return endDead(failure, delivery, claim, context);
}

async function endDead(failure: FailedAttempt, dead: Noted, claim: Claim, context: RunContext): Promise<never> {
  const { subscription, gate } = context;
  const isHeld = subscription.whenDead === 'hold' && claim.group !== null;
  const noted = noteEnd([dead], { outcome: 'dead', failure }, context);
  const end = isHeld ? gate.hold : gate.advance;
  await follow(await end(subscription.name, claim, noted), claim, context);
  throw deadLetterError(failure);
}

async function skip(skipped: Noted, why: 'where' | 'gone', claim: Claim, context: RunContext): Promise<void> {
  const noted = noteEnd([skipped], { outcome: 'skipped', why }, context);
  await follow(await context.gate.advance(context.subscription.name, claim, noted), claim, context);
}

async function follow(answer: AdvanceOutcome | { outcome: 'held' }, claim: Claim, context: RunContext): Promise<void> {
  if (answer.outcome === 'taken-over') throw new TakenOver();
  if (answer.outcome === 'held' || answer.next === null) return;
  await context.addJob({ workspace: claim.workspace, group: claim.group, entry: answer.next });
}

function factsOf({ claim: { workspace }, delivery }: Run, { subscription }: RunContext): object {
  return { workspace, subscription: subscription.name, ...idsOf(delivery.id, delivery.event.id) };
}
