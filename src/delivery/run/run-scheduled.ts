/**
 * One run of a scheduled job. A digest reads the log from the stored offset to its end, calls the handler once, and then moves the offset: a process that
 * is killed in between has it sent once more, and nothing is left out. A report says the counts of the todos at its moment. Neither becomes a
 * dead letter: after its last attempt the next one follows, a digest with the same events, until several in a row have paused the subscription.
 */
import { isoTime } from '../../kit/clock.js';
import { ChangefeedError, messageOf } from '../../kit/errors.js';
import { callWithin, contextFor, resultIn, type AttemptResult } from './attempt.js';
import { noteDigestOver, noteFailure } from './circuit-breaker.js';
import { limitOf } from './allowance.js';
import { digestCall, rangeOf, type Attempt, type Call } from './digest-call.js';
import type { Subscription } from '../handlers/handler.js';
import { momentBefore, nextMoment } from '../moments.js';
import { noteEnd, type Ended, type Noted } from '../receipts/note.js';
import {
  extendLock,
  isLockOver,
  numberOf,
  outcomeOfFailure,
  report,
  TakenOver,
  waitBefore,
  type GivenRun,
  type NoTurn,
  type RunOptions,
} from './run.js';
import { scheduleOf } from '../scheduled-job.js';
import { endTurn, hasTurn, waitForTurn, type Turn } from './turn.js';

/** As receipts name it; no event has this type. */
const REPORT_TYPE = 'changefeed.report';

/** A moment that this process does not know waits for another one that does. Then all have the same configuration. */
const ROLLOUT_MS = 3_600_000;
/** How long it waits before a process looks at it again. */
const OTHERS_MS = 10_000;

const ENDED = 'digest or report not handled: its attempts are over; the next digest begins with the same events';

export async function runScheduled(run: GivenRun, options: RunOptions): Promise<void> {
  await extendLock(run, options);
  const { subscription, log } = options;
  const { data, attemptsMade } = run.job;
  const nowMs = await log.serverMs();
  const untilMomentMs = attemptsMade === 0 ? (data.atMs ?? 0) - nowMs : 0;
  const waitMs = Math.max(untilMomentMs, await waitBefore(run, options));
  if (waitMs > 0) return await report({ outcome: 'waits', waitMs }, run, options);
  const unknownMs = unknownFor(run, nowMs, options);
  if (unknownMs !== null)
    return unknownMs < ROLLOUT_MS ? await report({ outcome: 'waits', waitMs: OTHERS_MS }, run, options) : undefined;
  const { verify, report: reported, digest, mostPerMinute } = subscription;
  if (verify !== undefined) await runVerify(run, options);
  else if (reported !== undefined) await runReport(run, nowMs, reported, options);
  // Otherwise it is an ordinary subscription now: its reader goes on at the offset.
  else if (digest !== undefined || mostPerMinute !== undefined) await runDigest(run, options);
}

/**
 * Null: the schedule has a moment between that of the job and now. It is the job's own, or a later one, as after a pause. Otherwise the option was
 * changed since the job was planned, in this process or in the one that planned it. @returns how long ago its moment was, ms
 */
function unknownFor({ job: { data } }: GivenRun, nowMs: number, { subscription, surroundingsOf }: RunOptions) {
  const schedule = scheduleOf(subscription);
  const { workspace, atMs = 0 } = data;
  if (schedule === undefined) return null;
  return nextMoment(schedule, atMs - 1, surroundingsOf(workspace).timeZone) <= nowMs ? null : nowMs - atMs;
}

async function runDigest(run: GivenRun, options: RunOptions): Promise<void> {
  await takeOne(run, options);
  const range = await rangeOf(run, options);
  if (range === null) return;
  const { workspace, after, to } = range;
  const outcome = await attempted(run, options, () => digestCall(range, attemptOf(run, options)));
  if (outcome === 'over') return;
  // A run that lost its lock meanwhile moves the offset too: the run that has the lock now then sends nothing.
  await options.offsets.advance(workspace, options.subscription.name, { from: after, to });
  if (outcome === 'handled') await noteSuccess(run, options);
}

/** A digest of what was beyond the limit is a message within it, which many subscriptions share. All its attempts are one. */
async function takeOne(run: GivenRun, options: RunOptions): Promise<void> {
  const { subscription, allowance } = options;
  const most = limitOf(options);
  if (most === undefined || run.job.data.logId !== '') return;
  const { messages, endsInMs } = await allowance.take(subscription, { messages: 1, most });
  if (messages === 0) await report({ outcome: 'waits', waitMs: endsInMs }, run, options);
}

/** Of several moments that have passed, as while the subscription was paused, the last one is reported. */
async function runReport(
  run: GivenRun,
  nowMs: number,
  { what, schedule, handle }: NonNullable<Subscription['report']>,
  options: RunOptions,
): Promise<void> {
  const { workspace } = run.job.data;
  const { timeZone } = options.surroundingsOf(workspace);
  const atMs = momentBefore(schedule, nowMs + 1, timeZone);
  const since = isoTime(momentBefore(schedule, atMs, timeZone));
  const id = `report.${isoTime(atMs)}`;
  const attempt = attemptOf(run, options);
  const context = contextFor(attempt, { workspace, effectsOf: id, facts: { report: id } });
  const outcome = await attempted(run, options, async () => {
    const counted = await options.countFor?.(what, { workspace, since });
    if (counted === undefined) return null;
    const about = { id, workspace, logId: '0-0', event: { id, type: REPORT_TYPE, subject: '' } };
    return { send: async () => resultIn(await callWithin(() => handle(counted, context), attempt)), about };
  });
  if (outcome === 'handled') await noteSuccess(run, options);
}

/** What it finds is kept for the status. The next day it runs again, whatever became of this one. */
async function runVerify({ job, lock }: GivenRun, options: RunOptions): Promise<void> {
  const { subscription, verifyCopy, logger } = options;
  const { workspace } = job.data;
  try {
    await verifyCopy?.(subscription.name, { workspace, signal: lock.interrupt.signal });
  } catch (error) {
    if (lock.interrupt.cause !== null) throw new TakenOver();
    logger.warn({ subscription: subscription.name, workspace, error: messageOf(error) }, 'copy was not verified');
  }
}

function attemptOf({ job, lock }: GivenRun, options: RunOptions): Attempt {
  return { ...options, attempt: numberOf(job), interrupt: lock.interrupt };
}

/** `over`: it has failed, and no attempt follows. */
async function attempted(
  run: GivenRun,
  options: RunOptions,
  prepare: () => Promise<Call | null>,
): Promise<'handled' | 'nothing' | 'over'> {
  const { subscription, clock, logger } = options;
  const { job } = run;
  const beganMs = clock.now();
  const facts = { workspace: job.data.workspace, subscription: subscription.name, job: job.id };
  const attempt = numberOf(job);
  const crash = await noteCrash(run, options);
  if (crash !== null && attempt > subscription.retry.attempts) {
    logger.error({ ...facts, crashes: job.stalledCounter }, ENDED);
    await noteDigestOver(crash, { ...options, queue: options.queue() });
    return 'over';
  }
  let about: Noted | undefined;
  let startedMs = clock.monotonic();
  let turn: Turn | NoTurn | undefined;
  try {
    const call = await prepare();
    if (call === null) return 'nothing';
    about = call.about;
    turn = await waitForTurn(run, attempt, options);
    startedMs = clock.monotonic();
    const result = hasTurn(turn) ? await send(call, run, options) : null;
    const ms = clock.monotonic() - startedMs;
    if (result?.outcome === 'skipped') await noteAttempt(about, result, options);
    if (result?.outcome === 'handled')
      await noteAttempt(about, { ...result, outcome: 'delivered', attempt, ms }, options);
  } catch (error) {
    const ms = clock.monotonic() - startedMs;
    const failed = await outcomeOfFailure(error, run, { attempt, beganMs, ms, facts, ended: ENDED }, options);
    if (failed.outcome === 'stopping') return await report(failed, run, options);
    if (turn !== undefined) await endTurn(turn, run, options);
    const nextAtMs = failed.outcome === 'retry' ? clock.now() + failed.waitMs : undefined;
    await noteAttempt(about, { outcome: 'retry', failure: failed.failure, nextAtMs }, options);
    if (failed.outcome !== 'dead') return await report(failed, run, options);
    await noteDigestOver(error, { ...options, queue: options.queue() });
    return 'over';
  }
  if (!hasTurn(turn)) return await report(turn, run, options);
  await endTurn(turn, run, options);
  return 'handled';
}

/** It may have been the cause, and then no attempt ever says so. Null: its process has not crashed. */
async function noteCrash({ job }: GivenRun, options: RunOptions): Promise<ChangefeedError | null> {
  const { stalledCounter: times, data } = job;
  if (times === 0) return null;
  const often = times === 1 ? 'once' : `${times} times`;
  const message = `The process crashed ${often} while it handled this digest or report, or did not respond for longer than its lock.`;
  const error = new ChangefeedError('CF_HANDLER_FAILED', { message });
  if (times === (data.crashes ?? 0)) return error;
  await noteFailure(error, data.workspace, { ...options, queue: options.queue() });
  await job.updateData({ ...data, crashes: times });
  return error;
}

async function send(call: Call, run: GivenRun, options: RunOptions): Promise<AttemptResult> {
  while (isLockOver(run)) await extendLock(run, options);
  return await call.send();
}

/** It is in no ordering group: a receipt of its own, before the offset moves. */
async function noteAttempt(about: Noted | undefined, ended: Ended, options: RunOptions): Promise<void> {
  const noted = about && noteEnd([about], ended, options);
  if (about === undefined || noted === undefined) return;
  const place = { subscription: options.subscription.name, workspace: about.workspace };
  await options.receipts.keep(place, noted);
}

async function noteSuccess({ job, lock }: GivenRun, { subscription, gate, failing }: RunOptions): Promise<void> {
  failing.over();
  const claim = { workspace: job.data.workspace, group: null, id: job.id ?? '', token: lock.token };
  await gate.handled(subscription.name, claim);
}
