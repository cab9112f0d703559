/**
 * Finds and removes everything that Redis stores for one workspace: its own keys, and its events in subscriptions. Uses SCAN, never KEYS,
 * which would block Redis. Every step can be repeated after a crash.
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
    removeWorkspace: (workspace) => removeWorkspace(redis, keys, workspace),
    deliveries: (workspace) => findDeliveries(redis, keys, workspace),
    removeTraces: (subscription, workspace, jobIds) => removeTraces(redis, keys, { subscription, workspace, jobIds }),
    removeNotices: (subscription) => removeNotices(redis, keys.subscriptionQueue(subscription)),
  };
}

async function removeWorkspace(redis: Redis, keys: Keys, workspace: string): Promise<WorkspaceTraces> {
  const found = await scanAll(redis, keys.records(workspace, '*'));
  const lists = found.map((key) => key.slice(keys.records(workspace, '').length));
  const [events, ...records] = await Promise.all([
    redis.xlen(keys.log(workspace)),
    ...lists.map((list) => countRecords({ redis, keys, workspace }, list)),
  ]);
  let removed = 0;
  for await (const found of scan(redis, keys.everythingOf(workspace))) removed += await redis.unlink(...found);
  for await (const found of scan(redis, keys.marksOf(workspace))) removed += await redis.unlink(...found);
  return { keys: removed, events, records: records.reduce((sum, count) => sum + count, 0) };
}

/** A scan may show a key twice. */
async function scanAll(redis: Redis, match: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const keys of scan(redis, match)) for (const key of keys) found.add(key);
  return [...found];
}

async function* scan(redis: Redis, match: string): AsyncGenerator<string[], void, undefined> {
  for await (const found of redis.scanStream({ match, count: SCAN_COUNT })) {
    if ((found as string[]).length > 0) yield found as string[];
  }
}

/** From the keys, not from the configuration: a subscription that was removed from it still has its queue. */
async function findDeliveries(redis: Redis, keys: Keys, workspace: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const names of scan(redis, keys.everythingOfSubscriptions())) {
    const jobs = names.flatMap((name) => {
      const owner = keys.subscriptionOf(name);
      if (owner === null) return [];
      found.set(owner.subscription, found.get(owner.subscription) ?? []);
      return owner.jobId === null ? [] : [{ ...owner, name }];
    });
    for (let at = 0; at < jobs.length; at += CHUNK) {
      const chunk = jobs.slice(at, at + CHUNK);
      const pipeline = redis.pipeline();
      for (const { name } of chunk) pipeline.hget(name, 'data');
      // BullMQ has other keys under the same prefix; for those that are no hash, the command fails and they are skipped.
      const answers = (await pipeline.exec()) ?? [];
      chunk.forEach(({ subscription, jobId }, index) => {
        if (workspaceIn(answers[index]?.[1]) === workspace) found.get(subscription)?.push(jobId ?? '');
      });
    }
  }
  return found;
}

function workspaceIn(data: unknown): unknown {
  if (typeof data !== 'string') return undefined;
  try {
    return (JSON.parse(data) as { workspace?: unknown } | null)?.workspace;
  } catch {
    return undefined;
  }
}

interface TracesOf {
  subscription: string;
  workspace: string;
  jobIds: readonly string[];
}

/** Ordering groups are named `<workspace>/…`, pending events `<workspace>` and a separator: each is one range of a sorted set. */
async function removeTraces(redis: Redis, keys: Keys, { subscription, workspace, jobIds }: TracesOf): Promise<number> {
  const [groups, pending, entered] = await Promise.all([
    redis.zremrangebylex(keys.groups(subscription), `[${workspace}/`, `(${workspace}0`),
    redis.zremrangebylex(keys.pending(subscription), `[${workspace}\x1f`, `(${workspace}\x20`),
    redis.hdel(keys.entered(subscription), workspace),
  ]);
  // The name of a backfill's task ends in its workspace.
  const backfills = keys.backfills(subscription);
  const tasks = (await redis.hkeys(backfills)).filter((name) => name.endsWith(` ${workspace}`));
  let removed = groups + pending + entered + (tasks.length > 0 ? await redis.hdel(backfills, ...tasks) : 0);
  removed += await redis.unlink(keys.staged(subscription, workspace), keys.seen(subscription, workspace));
  for (let at = 0; at < jobIds.length; at += CHUNK)
    removed += await redis.hdel(keys.positions(subscription), ...jobIds.slice(at, at + CHUNK));
  const holders = keys.holders(subscription);
  for await (const found of redis.hscanStream(holders, { match: `${workspace}/*`, count: SCAN_COUNT })) {
    const names = (found as string[]).filter((_text, index) => index % 2 === 0);
    if (names.length > 0) removed += await redis.hdel(holders, ...names);
  }
  return removed;
}

/** BullMQ writes the results of jobs, with reasons of failures, to a stream. Removes the entries of jobs that no longer exist. */
async function removeNotices(redis: Redis, queue: string): Promise<number> {
  const stream = `${queue}:events`;
  let removed = 0;
  for (let start = '-'; ;) {
    const entries = await redis.xrange(stream, start, '+', 'COUNT', CHUNK);
    const notices = entries.map(([id, fields]) => ({ id, jobId: fields[fields.indexOf('jobId') + 1] ?? '' }));
    const alive = await Promise.all(notices.map(({ jobId }) => redis.exists(`${queue}:${jobId}`)));
    const dead = notices.filter(({ jobId }, index) => jobId !== '' && alive[index] === 0).map(({ id }) => id);
    if (dead.length > 0) removed += await redis.xdel(stream, ...dead);
    const last = entries.at(-1)?.[0];
    if (last === undefined || entries.length < CHUNK) return removed;
    start = `(${last}`;
  }
}
