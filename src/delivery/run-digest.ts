/**
 * One run of a digest: it reads the log from the stored offset to its end, adds up what the subscription selects, calls the handler once,
 * and then moves the offset. A process that is killed in between has the digest sent once more; nothing is left out. A digest
 * never becomes a dead letter: after its last attempt the offset stays, and the next one begins with the same events.
 */
import { BEFORE_ALL, compareLogIds } from '../events/log-id.js';
import { compileSelection } from '../events/pattern.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { DigestSummary, Subscription } from './handlers/handler.js';
import { isoTime } from '../kit/clock.js';
import { messageOf } from '../kit/errors.js';
import { attemptDelivery, callWithin, contextFor, shapeEvent, statusIn } from './attempt.js';
import { VERIFY } from './digest-job.js';
import { momentBefore, nextMoment } from './moments.js';
import { noteEnd, type Ended, type Noted } from './receipts/note.js';
import {
  extendLock,
  isLockOver,
  numberOf,
  outcomeOfFailure,
  report,
  TakenOver,
  waitBefore,
  type GivenRun,
  type RunOptions,
} from './run.js';
import { DigestSums } from './summary.js';

const BATCH = 250;
/** As receipts name what was sent; no event has these types. */
const [DIGEST_TYPE, REPORT_TYPE] = ['changefeed.digest', 'changefeed.report'];

/** A report that this process does not know waits for another one that does. Then all have the same configuration. */
const ROLLOUT_MS = 3_600_000;
/** How long it waits before a process looks at it again. */
const OTHERS_MS = 10_000;

const ENDED = 'digest or report not handled: its attempts are over; the next digest begins with the same events';

interface Range {
  workspace: string;
  /** Exclusive; the last event that may be in it. */
  after: string;
  to: string;
}

export async function runDigest(run: GivenRun, options: RunOptions): Promise<void> {
  await extendLock(run, options);
  const waitMs = await waitBefore(run, options);
  if (waitMs > 0) return await report({ outcome: 'waits', waitMs }, run);
  if (run.job.name === VERIFY) return runVerify(run, options);
  const { subscription } = options;
  if (subscription.report !== undefined) return runReport(run, options, subscription.report);
  // It is an ordinary subscription now: its reader goes on at the offset.
  if (subscription.digest === undefined && subscription.mostPerMinute === undefined) return;
  const range = await rangeOf(run, options);
  if (range === null) return;
  const { workspace, after, to } = range;
  const outcome = await attempted(run, options, () => callFor(range, attemptOf(run, options)));
  if (outcome === 'over') return;
  // A run that lost its lock meanwhile moves the offset too: the run that has the lock now then sends nothing.
  await options.offsets.advance(workspace, subscription.name, { from: after, to });
  if (outcome === 'handled') await noteSuccess(run, options);
}

type Attempt = RunOptions & { attempt: number; interrupt: GivenRun['lock']['interrupt'] };

function attemptOf({ job, lock }: GivenRun, options: RunOptions): Attempt {
  return { ...options, attempt: numberOf(job), interrupt: lock.interrupt };
}

/** One message: how it is sent, and what its receipt is about. */
interface Call {
  send: () => Promise<unknown>;
  about: Noted;
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
  // It may be the cause.
  const attempt = numberOf(job);
  if (job.stalledCounter > 0 && attempt > subscription.retry.attempts) {
    logger.error({ ...facts, crashes: job.stalledCounter }, ENDED);
    return 'over';
  }
  let about: Noted | undefined;
  const startedMs = clock.monotonic();
  try {
    const call = await prepare();
    if (call === null) return 'nothing';
    about = call.about;
    while (isLockOver(run)) await extendLock(run, options);
    const status = statusIn(await call.send());
    const delivered = { outcome: 'delivered', attempt, ms: clock.monotonic() - startedMs, status } as const;
    await noteDigest(about, delivered, options);
    return 'handled';
  } catch (error) {
    const ms = clock.monotonic() - startedMs;
    const failed = await outcomeOfFailure(error, run, { attempt, beganMs, ms, facts, ended: ENDED }, options);
    if (failed.outcome === 'stopping') return await report(failed, run);
    const nextAtMs = failed.outcome === 'retry' ? clock.now() + failed.waitMs : undefined;
    await noteDigest(about, { outcome: 'retry', failure: failed.failure, nextAtMs }, options);
    return failed.outcome === 'dead' ? 'over' : await report(failed, run);
  }
}

/** It is in no ordering group: a receipt of its own, before the offset moves. */
async function noteDigest(about: Noted | undefined, ended: Ended, options: RunOptions): Promise<void> {
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

/** Null: another run has gone beyond it. All attempts have the same end, so that they say the same. */
async function rangeOf({ job }: GivenRun, { log, offsets, subscription }: RunOptions): Promise<Range | null> {
  const { workspace, logId } = job.data;
  const after = await offsets.get(workspace, subscription.name);
  if (after === null) return null;
  const to = logId === '' ? await log.tail(workspace) : logId;
  if (compareLogIds(after, to) >= 0 || to === BEFORE_ALL) return null;
  if (logId === '') await job.updateData({ ...job.data, logId: to });
  return { workspace, after, to };
}

/** Null: no event is selected. */
async function callFor(range: Range, attempt: Attempt): Promise<Call | null> {
  const { workspace } = range;
  const sums = new DigestSums();
  let only: LoggedEvent | null = null;
  for await (const { shaped, ...logged } of selected(range, attempt)) {
    only = sums.count === 0 ? logged : null;
    sums.add({ logId: logged.logId, event: shaped });
  }
  if (sums.count === 0) return null;
  // A single event reads as a single message.
  if (only !== null) {
    const delivery = { ...only, id: only.event.id, workspace };
    return { send: () => attemptDelivery({ ...attempt, delivery }), about: delivery };
  }
  const link = linkFor(workspace, attempt);
  const summary = sums.summary({ workspace, events: () => shapedEvents(range, attempt), link });
  const { id, from, to, count } = summary;
  const digest = { fromLogId: from.logId, count };
  const about = { id, workspace, logId: to.logId, event: { id, type: DIGEST_TYPE, subject: '' }, digest };
  return { send: () => callWithin(() => callDigest(summary, attempt), attempt), about };
}

function callDigest(summary: DigestSummary, attempt: Attempt): unknown {
  const { id, workspace } = summary;
  const about = { workspace, effectsOf: id, facts: { digest: id } };
  return attempt.subscription.handleDigest?.(summary, contextFor(attempt, about));
}

async function* selected({ workspace, after, to }: Range, attempt: Attempt) {
  const { log, subscription, interrupt } = attempt;
  const selects = compileSelection(subscription);
  for (let at = after; ;) {
    if (interrupt.cause !== null) throw new Error('interrupted');
    const batch = await log.read(workspace, at, BATCH);
    for (const { logId, event } of batch) {
      if (compareLogIds(logId, to) > 0) return;
      const shaped = selects(event) ? await shapeEvent(event, workspace, attempt) : null;
      if (shaped !== null) yield { logId, event, shaped };
    }
    const last = batch.at(-1)?.logId ?? to;
    if (compareLogIds(last, to) >= 0) return;
    at = last;
  }
}

async function* shapedEvents(range: Range, attempt: Attempt): AsyncGenerator<ChangeEvent> {
  for await (const { shaped } of selected(range, attempt)) yield shaped;
}

/** The page as this subscription selects, so far as it can filter. */
function linkFor(workspace: string, { pageUrl, subscription }: RunOptions): string | null {
  if (pageUrl === undefined) return null;
  const { on, lists, fields, class: wanted } = subscription;
  const [list, field] = [lists, fields].map((all) => (all?.length === 1 ? all[0] : undefined));
  const query = new URLSearchParams({
    workspace,
    ...(!on.includes('crm.*') && { type: on.join(',') }),
    ...(list !== undefined && { list }),
    ...(field !== undefined && { field }),
    // Without it, the page leaves out what no person has edited.
    ...(wanted !== 'edited' && { show: 'all' }),
  });
  return `${pageUrl.replace(/\/$/, '')}/#/changes?${query.toString()}`;
}

/** What it finds is kept for the status. The next day it runs again, whatever became of this one. */
async function runVerify({ job, lock }: GivenRun, options: RunOptions): Promise<void> {
  const { subscription, verifyCopy, logger } = options;
  const { workspace } = job.data;
  if (subscription.verify === undefined) return;
  try {
    await verifyCopy?.(subscription.name, { workspace, signal: lock.interrupt.signal });
  } catch (error) {
    if (lock.interrupt.cause !== null) throw new TakenOver();
    logger.warn({ subscription: subscription.name, workspace, error: messageOf(error) }, 'copy was not verified');
  }
}

async function runReport(
  run: GivenRun,
  options: RunOptions,
  { schedule, handle }: NonNullable<Subscription['report']>,
): Promise<void> {
  const { surroundingsOf, countTodos, clock } = options;
  const { workspace, atMs = 0 } = run.job.data;
  const { timeZone } = surroundingsOf(workspace);
  const lateMs = clock.now() - atMs;
  // It was paused: the report says how things are now, and so does the next one, which is due.
  if (nextMoment(schedule, atMs, timeZone) <= atMs + lateMs) return;
  // The option was changed since it was planned, in this process or in the one that planned it.
  if (nextMoment(schedule, atMs - 1, timeZone) !== atMs)
    return lateMs < ROLLOUT_MS ? await report({ outcome: 'waits', waitMs: OTHERS_MS }, run) : undefined;
  const since = isoTime(momentBefore(schedule, atMs, timeZone));
  const id = `report.${isoTime(atMs)}`;
  const attempt = attemptOf(run, options);
  const context = contextFor(attempt, { workspace, effectsOf: id, facts: { report: id } });
  const outcome = await attempted(run, options, async () => {
    const counted = await countTodos?.(workspace, since);
    if (counted === undefined) return null;
    const about = { id, workspace, logId: '0-0', event: { id, type: REPORT_TYPE, subject: '' } };
    return { send: () => callWithin(() => handle(counted, context), attempt), about };
  });
  if (outcome === 'handled') await noteSuccess(run, options);
}
