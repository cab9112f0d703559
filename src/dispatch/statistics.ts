/**
 * Events stand still when they wait although nothing keeps them back. Only the oldest unhandled event of a workspace is
 * asked about, not while it waits for its own time, or others are handled: a long queue is lag.
 */
import type { Queue } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import { BEFORE_ALL, compareLogIds, timeOfLogId } from '../events/log-id.js';
import type { Subscription } from '../handlers/handler.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import { lastSuccessMs } from './circuit-breaker.js';
import { isSentAgain } from './deliveries.js';
import { readsWorkspace } from '../events/pattern.js';
import type { JobData } from './queues.js';
import type { DispatchStores } from './stores.js';
import type { BackfillStore } from '../state/backfills.js';
import type { EventLog } from '../state/event-log.js';
import type { SubscriptionStatus } from './subscription-status.js';

/** Longer than a deployment and the wait for a killed process's lock: a slow start is no problem. */
export const STALLED_MS = 300_000;

interface StatisticsOptions extends DispatchStores {
  workspaces: readonly string[];
  clock: Clock;
}

/** A damaged key of one subscription must not hide the others. */
export async function describeSubscription(
  subscription: Subscription,
  queue: Queue<JobData>,
  options: StatisticsOptions,
): Promise<SubscriptionStatus> {
  try {
    return await readStatistics(subscription, queue, options);
  } catch (error) {
    if (!(error instanceof ChangefeedError) || error.code !== 'CF_STATE_UNREADABLE') throw error;
    const { name, handler, on } = subscription;
    const nothing = { waiting: 0, active: 0, delayed: 0, dead: 0, failures: 0, lagEvents: 0, lagSeconds: 0 };
    const well = {
      paused: false,
      manyDead: false,
      disabled: null,
      failingSince: null,
      lastError: null,
      stalledSince: null,
    };
    return { name, handler, on, ...nothing, ...well, unreadable: error.message };
  }
}

/** So many in so short a time mean that deliveries are lost until a person acts. */
const MANY_DEAD = 10;
const MANY_WITHIN_MS = 600_000;

async function hasManyDead(queue: Queue<JobData>, nowMs: number): Promise<boolean> {
  const backend = queue.getBackend();
  const [[id] = []] = await backend.getRanges(['failed'], MANY_DEAD - 1, MANY_DEAD - 1, false);
  const job = id === undefined ? undefined : await backend.getJobData(id);
  return nowMs - (job?.finishedOn ?? 0) < MANY_WITHIN_MS;
}

async function readStatistics(
  subscription: Subscription,
  queue: Queue<JobData>,
  options: StatisticsOptions,
): Promise<SubscriptionStatus> {
  const { name, handler, on } = subscription;
  const nowMs = options.clock.now();
  const [counts, paused, lags, health, succeededMs, manyDead] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'prioritized'),
    queue.isPaused(),
    lagsOf(subscription, options),
    options.health.read(name),
    lastSuccessMs(queue),
    hasManyDead(queue, nowMs),
  ]);
  const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed: dead = 0 } = counts;
  const { failingSinceMs, failures, lastError, disabled } = health;
  const isFailing = failingSinceMs !== null && failingSinceMs > succeededMs;
  const oldest = lags.flatMap((lag) => lag.oldest ?? []);
  const hasBegun = lags.every((lag) => lag.hasBegun);
  const oldestMs = Math.min(nowMs, ...oldest.flatMap(({ atMs }) => atMs ?? []));
  const jobs = { subscription, queue, backfills: options.backfills, nowMs, succeededMs, dead };
  return {
    name,
    handler,
    on,
    waiting: waiting + prioritized,
    active,
    delayed,
    dead,
    paused,
    disabled,
    failingSince: isFailing ? isoTime(failingSinceMs) : null,
    failures: isFailing ? failures : 0,
    lastError: isFailing || manyDead ? lastError : null,
    manyDead,
    stalledSince: disabled === null ? await stalledSince(oldest, { ...jobs, planned: active + delayed }) : null,
    lagEvents: hasBegun ? lags.reduce((sum, { events }) => sum + events, 0) : null,
    lagSeconds: hasBegun ? Math.round((nowMs - oldestMs) / 1_000) : null,
    unreadable: null,
  };
}

interface Oldest {
  /** When it was logged; of a snapshot from before the log, when it was entered. Null where that is not known. */
  atMs: number | null;
  /** The id of the delivery; null where the event has not been read from the log. */
  id: string | null;
}

interface Lag {
  /** It has an offset in the log. */
  hasBegun: boolean;
  events: number;
  oldest: Oldest | null;
}

/** Redis cannot count a range of the log, only read it. Beyond this number the exact lag does not matter. */
const COUNTED = 1_000;

async function lagsOf(subscription: Subscription, { workspaces, log, offsets, gate }: StatisticsOptions) {
  const read = workspaces.filter((workspace) => readsWorkspace(subscription, workspace));
  const { name } = subscription;
  const lagOf = async (workspace: string): Promise<Lag> => {
    const [offset, tail, { events, oldestId: id, oldestMs: atMs }] = await Promise.all([
      offsets.get(workspace, name),
      log.tail(workspace),
      gate.pending(name, workspace),
    ]);
    const pending = id === null ? null : { atMs, id };
    const hasBegun = offset !== null;
    if (!hasBegun || compareLogIds(offset, tail) >= 0 || tail === BEFORE_ALL)
      return { hasBegun, events, oldest: pending };
    const unread = await countUnread(log, workspace, offset);
    return { hasBegun, events: events + unread.events, oldest: pending ?? unread.oldest };
  };
  return await Promise.all(read.map(lagOf));
}

/** A read may return fewer events than asked for, and none only at the end of the log. */
async function countUnread(log: EventLog, workspace: string, offset: string): Promise<Omit<Lag, 'hasBegun'>> {
  let [events, after] = [0, offset];
  let oldest: Oldest | null = null;
  while (events < COUNTED) {
    const batch = await log.read(workspace, after, COUNTED - events);
    const [first, last] = [batch[0], batch.at(-1)];
    if (first === undefined || last === undefined) break;
    oldest ??= { atMs: timeOfLogId(first.logId), id: null };
    events += batch.length;
    after = last.logId;
  }
  return { events, oldest };
}

interface StalledOptions {
  subscription: Subscription;
  queue: Queue<JobData>;
  backfills: BackfillStore;
  nowMs: number;
  succeededMs: number;
  dead: number;
  /** Those that run or wait for their time. */
  planned: number;
}

/** Since when an event is stalled, of the oldest of each workspace; null when none is. */
async function stalledSince(oldest: readonly Oldest[], options: StalledOptions): Promise<string | null> {
  const found = (await Promise.all(oldest.map((one) => waitsSince(one, options)))).filter((one) => one !== null);
  if (found.length === 0) return null;
  const sinceMs = Math.min(...found);
  // An event of a snapshot has no time of its own.
  return isoTime(sinceMs > 0 ? sinceMs : options.nowMs - STALLED_MS);
}

/** Null when it does not wait for long, or something keeps it back. */
async function waitsSince({ id, atMs }: Oldest, options: StalledOptions): Promise<number | null> {
  const { subscription, queue, backfills, nowMs, succeededMs, dead, planned } = options;
  const isLong = (sinceMs: number): boolean => nowMs - sinceMs >= STALLED_MS;
  const loggedMs = atMs ?? 0;
  if (!isLong(loggedMs)) return null;
  // The log waits while a snapshot is read.
  if (id === null) return (await backfills.tasks(subscription.name)).length > 0 ? null : loggedMs;
  const state = await queue.getJobState(id);
  if (state === 'active' || state === 'delayed') return null;
  if (state === 'waiting' || state === 'prioritized') {
    const job = await queue.getJob(id);
    const sinceMs = Math.max(job?.timestamp ?? 0, job?.processedOn ?? 0, succeededMs);
    return isLong(sinceMs) ? sinceMs : null;
  }
  // No job: behind a dead letter held on purpose, or a younger event of its record, which may wait for its own time.
  const isBehind = (subscription.whenDead === 'hold' && dead > 0) || (isSentAgain(id) && planned > 0);
  return isBehind ? null : loggedMs;
}
