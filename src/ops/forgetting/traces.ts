/** Uses SCAN, never KEYS, which would block Redis. Every step can be repeated. */
import { z } from 'zod';
import { scanKeys, type Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';
import { unorderedField } from '../../delivery/offsets.js';
import { jsonOrNull } from '../../redis/stored.js';
import { countRecords } from '../../feed/store/stored-records.js';

const SCAN_COUNT = 1_000;
const CHUNK = 200;

/** Keys of a subscription about the log of a workspace. */
const OF_LOG = [
  ...(['entered', 'pending', 'staged', 'seen', 'undelivered'] as const),
  ...(['receipts', 'openReceipts', 'verified'] as const),
];

const namesSchema = z.object({ workspaces: z.array(z.object({ name: z.string() })) });

/** A key of Redis, or some fields of a hash. */
interface Trace {
  key: string;
  /** @defaultValue the whole key */
  fields?: readonly string[];
}

export type TraceStore = ReturnType<typeof createTraceStore>;

/** What is empty has no traces. */
export function createTraceStore(redis: Redis, keys: Keys) {
  /** A scan may show a key twice. */
  const scan = async (...patterns: readonly string[]): Promise<string[]> => {
    const found = new Set<string>();
    for (const match of patterns)
      for await (const some of scanKeys(redis, { match, count: SCAN_COUNT })) for (const key of some) found.add(key);
    return [...found];
  };
  const all = async (...patterns: readonly string[]): Promise<Trace[]> =>
    (await scan(...patterns)).map((key) => ({ key }));
  /** What stands between `before` and the end of the keys that begin with it. */
  const endings = async (before: string): Promise<string[]> =>
    (await scan(`${before}*`)).map((key) => key.slice(before.length)).sort();
  return {
    /** Lists whose lease is held. From the keys: they may no longer be configured. */
    sweeping: (workspace: string) => endings(keys.lease(workspace, '')),
    /** Lists of which records are stored. */
    storedLists: (workspace: string) => endings(keys.records(workspace, '')),
    async sizes(workspace: string): Promise<{ events: number; records: number }> {
      const lists = await endings(keys.records(workspace, ''));
      const records = await Promise.all(lists.map((list) => countRecords({ redis, keys, workspace }, list)));
      return { events: await redis.xlen(keys.log(workspace)), records: records.reduce((sum, count) => sum + count, 0) };
    },
    async subscriptions(): Promise<string[]> {
      const found = (await scan(keys.everythingOfSubscriptions())).flatMap((key) => keys.subscriptionOf(key) ?? []);
      const readers = (await scan(keys.everyReaders())).map((hash) => redis.hkeys(hash));
      return [...new Set([...found, ...(await Promise.all(readers)).flat()])].sort();
    },
    /** The workspace's own keys, and the marks of `once`. */
    ofWorkspace: (workspace: string) => all(keys.everythingOf(workspace), keys.marksOf(workspace)),
    /** The configuration that ran last, if it names the workspace: the process that runs next keeps its own. */
    async namedIn(workspace: string): Promise<Trace[]> {
      const key = keys.configuration();
      const { data } = namesSchema.safeParse(jsonOrNull(await redis.get(key)));
      return data?.workspaces.some(({ name }) => name === workspace) === true ? [{ key }] : [];
    },
    /** The ordering state of a workspace's events in a subscription. */
    async ofWorkspaceIn(subscription: string, workspace: string): Promise<Trace[]> {
      const ofAll = [keys.offsets, keys.backfills, keys.health] as const;
      const [offsets = '', backfills = '', health = ''] = ofAll.map((keyOf) => keyOf(subscription));
      // The name of a backfill's task ends in its workspace, and so do the sources of replays and snapshots.
      const tasks = (await redis.hkeys(backfills)).filter((name) => name.endsWith(` ${workspace}`));
      const pending = await redis.zrange(keys.pending(subscription, workspace), '0', '-1');
      const isLastError = (await redis.hget(health, 'lastErrorIn')) === workspace;
      return [
        ...((await redis.hexists(offsets, workspace)) === 1 ? [{ key: offsets, fields: ofWorkspace(workspace) }] : []),
        ...(await fieldOf(redis, keys.pulled(subscription), `in ${workspace}`)),
        ...(tasks.length > 0 ? [{ key: backfills, fields: tasks }] : []),
        ...(pending.length > 0 ? [{ key: keys.payloads(subscription), fields: pending }] : []),
        ...(isLastError ? [{ key: health, fields: ['lastError', 'lastErrorIn'] }] : []),
        ...(await all(keys.groupsOf(subscription, workspace), keys.entered(subscription, `*:${workspace}`))),
        ...(await existing(
          redis,
          OF_LOG.map((name) => keys[name](subscription, workspace)),
        )),
      ];
    },
    ofSubscription: (subscription: string) => ofSubscription({ redis, keys }, { subscription, scan, all }),
    /** Returns the number of keys and fields that were there. */
    async remove(traces: readonly Trace[]): Promise<number> {
      let removed = 0;
      for (const { key, fields = [] } of traces)
        for (let at = 0; at < fields.length; at += CHUNK)
          removed += await redis.hdel(key, ...fields.slice(at, at + CHUNK));
      const whole = traces.filter(({ fields }) => fields === undefined).map(({ key }) => key);
      return removed + (await unlinkEach(redis, whole));
    },
  };
}

async function fieldOf(redis: Redis, key: string, field: string): Promise<Trace[]> {
  return (await redis.hexists(key, field)) === 1 ? [{ key, fields: [field] }] : [];
}

async function existing(redis: Redis, names: readonly string[]): Promise<Trace[]> {
  const exists = await Promise.all(names.map((key) => redis.exists(key)));
  return names.filter((_, at) => exists[at] === 1).map((key) => ({ key }));
}

function ofWorkspace(workspace: string): string[] {
  return [workspace, unorderedField(workspace)];
}

type Scan = (pattern: string) => Promise<string[]>;

/** A subscription's queue, and its offsets in every log. */
async function ofSubscription(
  { redis, keys }: { redis: Redis; keys: Keys },
  { subscription, scan, all }: { subscription: string; scan: Scan; all: (pattern: string) => Promise<Trace[]> },
): Promise<Trace[]> {
  // The offsets first: without them, no dispatcher would go on in the middle if a crash came between.
  const offsets = keys.offsets(subscription);
  const first = { key: offsets, fields: await redis.hkeys(offsets) };
  const readers = (await scan(keys.everyReaders())).map((key) => ({ key, fields: [subscription] }));
  return [first, ...readers, ...(await all(keys.everythingOfSubscription(subscription)))];
}

/** Each by itself: a command may only name keys of one slot of a Redis Cluster. */
async function unlinkEach(redis: Redis, keys: readonly string[]): Promise<number> {
  let removed = 0;
  for (let at = 0; at < keys.length; at += CHUNK) {
    const counts = await Promise.all(keys.slice(at, at + CHUNK).map((key) => redis.unlink(key)));
    removed += counts.reduce((sum, count) => sum + count, 0);
  }
  return removed;
}
