/**
 * Finds and removes everything that Redis stores for one workspace: its own keys, and the ordering groups of its events. Its jobs are removed
 * with BullMQ (dispatch/forget.ts). Uses SCAN, never KEYS, which would block Redis. Every step can be repeated after a crash.
 */
import type { Redis } from 'ioredis';
import type { TraceStore, WorkspaceTraces } from '../dispatch/ports.js';
import type { Keys } from './keys.js';
import { countRecords } from './stored-records.js';

const SCAN_COUNT = 1_000;
const CHUNK = 200;

export function createTraceStore(redis: Redis, keys: Keys): TraceStore {
  return {
    async sweeping(workspace) {
      // From the keys: the configuration may no longer name the workspace or its lists.
      const leases = await scanAll(redis, keys.lease(workspace, '*'));
      return leases.map((key) => key.slice(keys.lease(workspace, '').length)).sort();
    },
    hasWorkspace: async (workspace) =>
      (await hasAny(redis, keys.everythingOf(workspace))) || (await hasAny(redis, keys.marksOf(workspace))),
    removeWorkspace: (workspace) => removeWorkspace(redis, keys, workspace),
    async subscriptions() {
      const found = await scanAll(redis, keys.everythingOfSubscriptions());
      const withOffset = await offsetHashes(redis, keys);
      const readers = await Promise.all(withOffset.map((hash) => redis.hkeys(hash)));
      return [...new Set([...found.flatMap((key) => keys.subscriptionOf(key) ?? []), ...readers.flat()])];
    },
    removeSubscription: (subscription) => removeSubscription(redis, keys, subscription),
    hasTraces: (subscription, workspace) => hasTraces(redis, keys, subscription, workspace),
    removeTraces: (subscription, workspace) => removeTraces(redis, keys, subscription, workspace),
  };
}

async function removeWorkspace(redis: Redis, keys: Keys, workspace: string): Promise<WorkspaceTraces> {
  const found = await scanAll(redis, keys.records(workspace, '*'));
  const lists = found.map((key) => key.slice(keys.records(workspace, '').length));
  const [events, ...records] = await Promise.all([
    redis.xlen(keys.log(workspace)),
    ...lists.map((list) => countRecords({ redis, keys, workspace }, list)),
  ]);
  const removed =
    (await removeAll(redis, keys.everythingOf(workspace))) + (await removeAll(redis, keys.marksOf(workspace)));
  return { keys: removed, events, records: records.reduce((sum, count) => sum + count, 0) };
}

async function offsetHashes(redis: Redis, keys: Keys): Promise<string[]> {
  return (await Promise.all(keys.everyOffsets().map((match) => scanAll(redis, match)))).flat();
}

/** The offsets first: without them, no dispatcher would go on in the middle if a crash came between. */
async function removeSubscription(redis: Redis, keys: Keys, subscription: string): Promise<number> {
  let removed = 0;
  for (const hash of await offsetHashes(redis, keys)) removed += await redis.hdel(hash, subscription);
  return removed + (await removeAll(redis, keys.everythingOfSubscription(subscription)));
}

/** A scan may show a key twice. */
async function scanAll(redis: Redis, match: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const keys of scan(redis, match)) for (const key of keys) found.add(key);
  return [...found];
}

async function hasAny(redis: Redis, match: string): Promise<boolean> {
  for await (const found of scan(redis, match)) if (found.length > 0) return true;
  return false;
}

async function removeAll(redis: Redis, match: string): Promise<number> {
  let removed = 0;
  for await (const found of scan(redis, match)) removed += await redis.unlink(...found);
  return removed;
}

async function* scan(redis: Redis, match: string): AsyncGenerator<string[], void, undefined> {
  for await (const found of redis.scanStream({ match, count: SCAN_COUNT })) {
    if ((found as string[]).length > 0) yield found as string[];
  }
}

async function hasTraces(redis: Redis, keys: Keys, subscription: string, workspace: string): Promise<boolean> {
  return (
    (await redis.exists(keysOfTraces(keys, subscription, workspace))) > 0 ||
    (await backfillTasks(redis, keys, subscription, workspace)).length > 0 ||
    (await hasAny(redis, keys.entered(subscription, `*:${workspace}`))) ||
    (await hasAny(redis, keys.groupsOf(subscription, workspace)))
  );
}

function keysOfTraces(keys: Keys, subscription: string, workspace: string): string[] {
  return [
    keys.pending(subscription, workspace),
    keys.entered(subscription, workspace),
    keys.staged(subscription, workspace),
    keys.seen(subscription, workspace),
  ];
}

/** The name of a backfill's task ends in its workspace. */
async function backfillTasks(redis: Redis, keys: Keys, subscription: string, workspace: string): Promise<string[]> {
  return (await redis.hkeys(keys.backfills(subscription))).filter((name) => name.endsWith(` ${workspace}`));
}

async function removeTraces(redis: Redis, keys: Keys, subscription: string, workspace: string): Promise<number> {
  const tasks = await backfillTasks(redis, keys, subscription, workspace);
  let removed = tasks.length > 0 ? await redis.hdel(keys.backfills(subscription), ...tasks) : 0;
  const pending = await redis.zrange(keys.pending(subscription, workspace), '0', '-1');
  for (let at = 0; at < pending.length; at += CHUNK)
    removed += await redis.hdel(keys.payloads(subscription), ...pending.slice(at, at + CHUNK));
  removed += await redis.unlink(keysOfTraces(keys, subscription, workspace));
  const health = keys.health(subscription);
  if ((await redis.hget(health, 'lastErrorIn')) === workspace)
    removed += await redis.hdel(health, 'lastError', 'lastErrorIn');
  // The sources of replays and snapshots end in their workspace.
  removed += await removeAll(redis, keys.entered(subscription, `*:${workspace}`));
  return removed + (await removeAll(redis, keys.groupsOf(subscription, workspace)));
}
