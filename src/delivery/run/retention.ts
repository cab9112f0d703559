/**
 * Trims the event log. Events not handled by a subscription are kept, because the log is the outbox; for paused
 * subscriptions only as long as the retention says. An offset of an unconfigured subscription may belong to a process
 * that is restarting: it is marked, and dropped after 7 days, or the log's retention age if that is longer.
 */
import { BEFORE_ALL, compareLogIds } from '../../events/log-id.js';
import type { Redis } from '../../redis/client.js';
import { isInFuture } from '../../kit/stored-time.js';
import { readOldestPending } from '../groups/gate.js';
import { queryLog } from '../../log/query.js';
import type { Keys, WorkspaceRedis } from '../../redis/keys.js';
import { CONFIGURED, readOffset, unorderedField } from '../offsets.js';
import { readNumber } from '../../redis/stored.js';

export interface LogRetention {
  /** Events older than this are dropped; ms. */
  ageMs: number;
  events: number;
}

export interface TrimOptions {
  workspace: string;
  retention: LogRetention;
  /** The subscriptions of this process's configuration that read the log. */
  readers: readonly string[];
  nowMs: number;
  /** What else is read of the log, and how far. Null: nothing is. */
  alsoReadTo?: string | null;
  /** They keep nothing: one that stays paused would fill Redis and stop all others. */
  paused: readonly string[];
}

const CHUNK = 1_000;
/** Longer keeps a log that no subscription reads; shorter loses events of a service that is down for repair. */
const UNCONFIGURED_LIFE_MS = 7 * 86_400_000;

/** @returns `droppedOffsets`: begin anew if configured again; `missedBy`: paused, had not handled all removed */
export async function trimLog(redis: Redis, keys: Keys, options: TrimOptions) {
  const { workspace, nowMs, paused, alsoReadTo = null } = options;
  const scope = { redis, keys, workspace };
  const { kept, droppedOffsets } = await dropUnconfigured(redis, keys, options);
  const reading = await Promise.all(
    kept.map(async (name) => {
      const stored = await redis.hget(keys.offsets(name), workspace);
      // It has not begun, or its offset was lost: then it reads on from where it was.
      if (stored === null) return [];
      const offset = readOffset(stored, keys.offsets(name), workspace);
      const next = await firstId(scope, offset);
      return [{ name, offset, next, oldest: await readOldestPending(redis, keys.pending(name, workspace)) }];
    }),
  );
  const needed = reading.flat();
  const holding = needed
    .filter(({ name }) => !paused.includes(name))
    .flatMap(({ offset, oldest }) => (oldest === null ? [offset] : [offset, oldest]));
  await trimTo(scope, options, holding.reduce(olderId, alsoReadTo ?? `${nowMs}-0`));
  const first = await firstId(scope);
  const isGone = (id: string | null): boolean => id !== null && (first === null || compareLogIds(id, first) < 0);
  const missed = needed.filter(({ name, next, oldest }) => paused.includes(name) && (isGone(next) || isGone(oldest)));
  return { droppedOffsets, missedBy: missed.map(({ name }) => name) };
}

async function firstId({ workspace, ...scope }: WorkspaceRedis, after?: string): Promise<string | null> {
  for await (const [first] of queryLog(scope, { workspaces: [workspace], order: 'oldest', from: after, limit: 1 }))
    return first?.logId ?? null;
  return null;
}

/** Marks the unconfigured, unmarks the configured, and drops the offsets of those marked for too long. */
async function dropUnconfigured(
  redis: Redis,
  keys: Keys,
  { workspace, readers, nowMs, retention }: TrimOptions,
): Promise<{ kept: string[]; droppedOffsets: string[] }> {
  const hash = keys.readers(workspace);
  const marks = await redis.hgetall(hash);
  for (const name of readers) if (marks[name] !== CONFIGURED) await redis.hset(hash, name, CONFIGURED);
  const missing = Object.keys(marks).filter((name) => !readers.includes(name));
  const sinceMs = (field: string): number =>
    readNumber(marks[field] ?? '', { what: 'since when a subscription is unconfigured', key: hash, field });
  // A mark in the future says nothing: the time begins now.
  const isMarked = (name: string): boolean => marks[name] !== CONFIGURED && !isInFuture(sinceMs(name), nowMs);
  for (const name of missing) if (!isMarked(name)) await redis.hset(hash, name, nowMs);
  const isOver = (name: string): boolean =>
    isMarked(name) && nowMs - sinceMs(name) > Math.max(UNCONFIGURED_LIFE_MS, retention.ageMs);
  const droppedOffsets = missing.filter(isOver);
  // The offset first: a reader without one keeps nothing, an offset without its reader nothing before it.
  for (const name of droppedOffsets) await redis.hdel(keys.offsets(name), workspace, unorderedField(workspace));
  if (droppedOffsets.length > 0) await redis.hdel(hash, ...droppedOffsets);
  const kept = new Set([...readers, ...missing.filter((name) => !droppedOffsets.includes(name))]);
  return { kept: [...kept], droppedOffsets };
}

async function trimTo(scope: WorkspaceRedis, { retention, nowMs }: TrimOptions, keepFrom: string): Promise<void> {
  const { redis, keys, workspace } = scope;
  const log = keys.log(workspace);
  const tooOld = olderId(`${Math.max(0, nowMs - retention.ageMs)}-0`, keepFrom);
  await trimNodes(redis, log, { before: tooOld, most: Infinity });
  await redis.xtrim(log, 'MINID', tooOld);
  const excess = (await redis.xlen(log)) - retention.events;
  if (excess <= 0) return;
  const trimmed = await trimNodes(redis, log, { before: keepFrom, most: excess });
  let cut = BEFORE_ALL;
  const limit = Math.min(excess - trimmed, CHUNK) + 1;
  for await (const rest of queryLog(scope, { workspaces: [workspace], order: 'oldest', limit }))
    cut = rest.at(-1)?.logId ?? cut;
  await redis.xtrim(log, 'MINID', olderId(cut, keepFrom));
}

/** Removes whole nodes (some 100 events or 4 kB) in steps: a million at once would block Redis for seconds. */
async function trimNodes(
  redis: Redis,
  log: string,
  { before, most }: { before: string; most: number },
): Promise<number> {
  let dropped = 0;
  // LIMIT 0 would mean no limit.
  while (dropped < most) {
    const trimmed = await redis.xtrim(log, 'MINID', '~', before, 'LIMIT', Math.min(most - dropped, CHUNK));
    if (trimmed === 0) break;
    dropped += trimmed;
  }
  return dropped;
}

function olderId(a: string, b: string): string {
  return compareLogIds(a, b) <= 0 ? a : b;
}
