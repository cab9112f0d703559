/** What the status shows of a subscription: its queue, its lag, and whether its oldest event is late. */
import type { Queue } from 'bullmq';
import { ChangefeedError } from '../../kit/errors.js';
import { BEFORE_ALL, compareLogIds, timeOfLogId } from '../../events/log-id.js';
import type { Subscription } from '../handlers/handler.js';
import { isoTime } from '../../kit/clock.js';
import { knownMs, SKEW_MS } from '../../kit/stored-time.js';
import { isSentAgain } from '../deliveries.js';
import { ALLOWANCE_MS, nextMoment } from '../moments.js';
import { scheduledJob, scheduleOf } from '../scheduled-job.js';
import { readsWorkspace } from '../../events/pattern.js';
import type { JobData, Queues } from '../queues.js';
import type { DispatchContext } from '../stores.js';
import type { BackfillStore, StoredTask } from '../act/backfills.js';
import { isSnapshot } from '../act/snapshot.js';
import { endingLists } from '../act/snapshot-end.js';
import type { EventLog } from '../../log/event-log.js';
import type { SubscriptionStatus } from './subscription-status.js';
import { summed, wrongIn } from '../verify/verified.js';
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';

export async function describeSubscriptions(
  queues: Pick<Queues, 'of'>,
  options: DispatchContext,
): Promise<SubscriptionStatus[]> {
  const tails = new Map<string, Promise<string>>();
  const tailOf = (workspace: string): Promise<string> => {
    const tail = tails.get(workspace) ?? options.log.tail(workspace);
    tails.set(workspace, tail);
    return tail;
  };
  const context = { ...options, tailOf };
  return await Promise.all(options.subscriptions.map((one) => describeSubscription(one, queues.of(one.name), context)));
}

type StatisticsContext = DispatchContext & {
  /** The end of the log, which many subscriptions read. */
  tailOf: (workspace: string) => Promise<string>;
};

/** A damaged key of one subscription must not hide the others. */
async function describeSubscription(
  subscription: Subscription,
  queue: Queue<JobData>,
  options: StatisticsContext,
): Promise<SubscriptionStatus> {
  try {
    return await readStatistics(subscription, queue, options);
  } catch (error) {
    if (!(error instanceof ChangefeedError) || error.code !== 'CF_STATE_UNREADABLE') throw error;
    const nothing = { waiting: 0, active: 0, delayed: 0, dead: 0, failures: 0, lagEvents: 0, lagSeconds: 0 };
    const well = {
      consumer: null,
      verified: null,
      paused: null,
      replays: [],
      incomplete: [],
      failingSince: null,
      lastError: null,
      lateSince: null,
    };
    return { ...nothing, ...well, ...fixedOf(subscription), unreadable: error.message };
  }
}

function fixedOf({ name, title, to, handler, words, on, digest, report, lateAfterMs }: Subscription) {
  const isDigest = digest !== undefined || report !== undefined;
  const known = { name, title: title ?? null, to: to ?? null, handler, ...(words && { words }), on };
  return { ...known, digest: isDigest, lateAfterSeconds: lateAfterMs / 1_000 };
}

/** A kill between two steps, or a person at the queue, leaves it. `enforcePaused` resumes it. */
const QUEUE_PAUSED = { at: null, reason: 'Its queue is paused.', missing: false };

async function readStatistics(
  subscription: Subscription,
  queue: Queue<JobData>,
  options: StatisticsContext,
): Promise<SubscriptionStatus> {
  const { name } = subscription;
  const nowMs = options.clock.now();
  const [tasks, counts, planned, isQueuePaused, lags, health] = await Promise.all([
    options.backfills.tasks(name),
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'prioritized'),
    plannedJobs(subscription, queue, options),
    queue.isPaused(),
    lagsOf(subscription, queue, options),
    options.health.read(name),
  ]);
  const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed: dead = 0 } = counts;
  const { failingSinceMs, failures, lastError } = health;
  const isFailing = failingSinceMs !== null;
  const oldest = lags.flatMap((lag) => lag.oldest ?? []);
  const hasBegun = lags.every((lag) => lag.hasBegun);
  const oldestMs = Math.min(nowMs, ...oldest.flatMap(({ atMs }) => atMs ?? []));
  return {
    waiting: waiting + prioritized,
    active,
    delayed: Math.max(0, delayed - planned),
    dead,
    paused: health.paused ?? (isQueuePaused ? QUEUE_PAUSED : null),
    failingSince: isFailing ? isoTime(failingSinceMs) : null,
    failures: isFailing ? failures : 0,
    lastError: isFailing || dead > 0 ? lastError : null,
    replays: replaysIn(tasks),
    incomplete: await incompleteIn(tasks, name, options),
    verified: await verifiedOf(subscription, options),
    consumer: await consumerOf(subscription, options),
    ...fixedOf(subscription),
    lateSince: await lateSince(oldest, { subscription, backfills: options.backfills, nowMs }),
    lagEvents: hasBegun ? lags.reduce((sum, { events }) => sum + events, 0) : null,
    lagSeconds: hasBegun ? Math.round((nowMs - oldestMs) / 1_000) : null,
    unreadable: null,
  };
}

/** Digests, reports and comparisons that are planned for later: no event waits in them. */
async function plannedJobs(
  subscription: Subscription,
  queue: Queue<JobData>,
  { workspaces }: DispatchContext,
): Promise<number> {
  if (scheduleOf(subscription) === undefined && subscription.mostPerMinute === undefined) return 0;
  const isPlanned = async (workspace: string): Promise<boolean> => {
    const job = await scheduledJob(queue, workspace);
    return job?.attemptsMade === 0 && (await job.isDelayed());
  };
  return (await Promise.all(workspaces.map(isPlanned))).filter((one) => one).length;
}

/** Of all workspaces that were compared; as old as the first of them. */
async function verifiedOf({ name, verify }: Subscription, { workspaces, verified }: DispatchContext) {
  const kept = await Promise.all(workspaces.map((workspace) => verified.read(name, workspace)));
  const found = kept.filter((one) => one !== null).sort((one, other) => (one.at < other.at ? -1 : 1));
  const [first] = found;
  if (first === undefined) return null;
  const counts = summed(found);
  return { at: first.at, copy: first.copy, nightly: verify !== undefined, wrong: wrongIn(counts), ...counts };
}

async function consumerOf({ name, pull }: Subscription, { batches }: DispatchContext) {
  if (pull === undefined) return null;
  const { askedMs, underWay } = await batches.read(name);
  const events = underWay?.stretches.reduce((sum, one) => sum + one.events, 0) ?? 0;
  return { askedAt: askedMs === null ? null : isoTime(askedMs), underWay: events };
}

function replaysIn(tasks: readonly StoredTask[]): SubscriptionStatus['replays'] {
  return tasks.flatMap(({ task }) => {
    if (task.kind !== 'replay') return [];
    const { id, workspace, sent, after, last } = task;
    const reached = after === BEFORE_ALL ? null : isoTime(timeOfLogId(after));
    return [{ id, workspace, sent, reached, until: isoTime(timeOfLogId(last)) }];
  });
}

/** A few say what is in the way. */
const NAMED = 3;

/** Where only time is needed, nothing is incomplete. */
async function incompleteIn(
  tasks: readonly StoredTask[],
  name: string,
  options: DispatchContext,
): Promise<SubscriptionStatus['incomplete']> {
  const all = await Promise.all(tasks.filter(isSnapshot).map((one) => endingLists(one, name, options)));
  return all.flat().flatMap(({ workspace, ending: { list }, condition, undelivered, verdict }) => {
    const { held, unreadable } = condition;
    const { dead, dropped } = undelivered;
    const counts = { held, unreadable: unreadable.length, dead: dead.length, dropped: dropped.length };
    if (verdict !== 'waits' || Object.values(counts).every((count) => count === 0)) return [];
    const ids = [...dead, ...dropped, ...unreadable].filter((id) => id !== null && id !== '') as string[];
    return [{ workspace, list, ...counts, records: ids.slice(0, NAMED) }];
  });
}

interface Oldest {
  /** When it was logged; of what is sent again, and of a snapshot, when it was entered. Null where that is not known. */
  atMs: number | null;
  /** The id of the delivery; null where the event has not been read from the log. */
  id: string | null;
}

interface Unhandled {
  events: number;
  oldest: Oldest | null;
}

interface Lag extends Unhandled {
  /** It has an offset in the log. */
  hasBegun: boolean;
}

/** Redis cannot count a range of the log, only read it. Beyond this number the exact lag does not matter. */
const COUNTED = 1_000;

async function lagsOf(subscription: Subscription, queue: Queue<JobData>, options: StatisticsContext) {
  const { workspaces, log, offsets, gate, timeZoneOf, tailOf } = options;
  const read = workspaces.filter((workspace) => readsWorkspace(subscription, workspace));
  const { name, digest } = subscription;
  const lagOf = async (workspace: string): Promise<Lag> => {
    const [offset, tail, { events, oldestId: id, oldestMs: loggedAtMs }] = await Promise.all([
      offsets.get(workspace, name),
      tailOf(workspace),
      gate.pending(name, workspace),
    ]);
    const pending = id === null ? null : { atMs: isSentAgain(id) ? await enteredMs(queue, id) : loggedAtMs, id };
    const hasBegun = offset !== null;
    if (!hasBegun || compareLogIds(offset, tail) >= 0 || tail === BEFORE_ALL)
      return { hasBegun, events, oldest: pending };
    const unread = await countUnread(log, workspace, offset);
    const loggedMs = unread.oldest?.atMs ?? null;
    // Until the moment of its digest, an event is not late.
    const sinceMs = digest && loggedMs !== null ? nextMoment(digest, loggedMs, timeZoneOf(workspace)) : loggedMs;
    const oldest = unread.oldest && { ...unread.oldest, atMs: sinceMs };
    return { hasBegun, events: events + unread.events, oldest: pending ?? oldest };
  };
  return await Promise.all(read.map(lagOf));
}

async function countUnread(log: EventLog, workspace: string, offset: string): Promise<Unhandled> {
  let events = 0;
  let oldest: Oldest | null = null;
  for await (const entries of log.query({ workspaces: [workspace], order: 'oldest', from: offset, limit: COUNTED })) {
    const [first] = entries;
    if (first !== undefined) oldest ??= { atMs: timeOfLogId(first.logId), id: null };
    events += entries.length;
  }
  return { events, oldest };
}

/** It was logged long before it was sent again. Null without a job: it is behind another event of its record. */
async function enteredMs(queue: Queue<JobData>, id: string): Promise<number | null> {
  const { atMs = 0 } = (await queue.getJob(id))?.data ?? {};
  return atMs === 0 ? null : atMs;
}

interface LateOptions {
  subscription: Subscription;
  backfills: BackfillStore;
  nowMs: number;
}

/** Since when the oldest event waits, whatever its state; null when it is not late. */
async function lateSince(oldest: readonly Oldest[], options: LateOptions): Promise<string | null> {
  const { subscription, nowMs } = options;
  const { lateAfterMs, settle, mostPerMinute } = subscription;
  const times = await Promise.all(oldest.map((one) => waitsSince(one, options)));
  const sinceMs = Math.min(...times.map((time) => time ?? Infinity));
  const mayWaitMs = (settle?.atMostMs ?? 0) + (mostPerMinute === undefined ? 0 : ALLOWANCE_MS);
  return nowMs - sinceMs > lateAfterMs + mayWaitMs ? isoTime(sinceMs) : null;
}

/** Null when it is not known, or the log waits while a list of a snapshot is read. */
async function waitsSince(
  { id, atMs }: Oldest,
  { subscription, backfills, nowMs }: LateOptions,
): Promise<number | null> {
  if (id === null && (await backfills.tasks(subscription.name)).some(holdsLog)) return null;
  return knownMs(atMs, nowMs);
}

function holdsLog({ task }: StoredTask): boolean {
  return task.kind === 'replay' || task.staged || task.reading !== null;
}

const MINUTE_MS = 60_000;

/** Jobs of each subscription that were completed in the last minute; as many are counted as BullMQ keeps. */
export async function handledLastMinute(
  redis: Redis,
  keys: Keys,
  { subscriptions, nowMs }: { subscriptions: readonly string[]; nowMs: number },
): Promise<Map<string, number>> {
  const counts = subscriptions.map(async (name) => {
    const completed = `${keys.subscriptionQueuePrefix(name)}:${name}:completed`;
    return [name, await redis.zcount(completed, nowMs - MINUTE_MS, nowMs + SKEW_MS)] as const;
  });
  return new Map(await Promise.all(counts));
}
