/** The sweep's memory in Redis: what was known, what a page changed, who may write. */
import { randomInt } from 'node:crypto';
import type { Redis } from 'ioredis';
import { STRAYS } from '../detect/removal.js';
import { schemaFrom } from '../detect/schema.js';
import type { ListName } from '../events/lists.js';
import type { AcquireResult, StoredSweep, SweepStore } from '../sweep/store.js';
import { unexpectedAnswer, words } from './answer.js';
import { commitPage, commitRemovals, committed } from './commit.js';
import type { Keys } from './keys.js';
import { acceptCreations, acceptRemovals, memberField, readMembers, readMembership, strays } from './membership.js';
import { unpackRecord, unpackWaiting } from './packing.js';
import { recentEvents } from './recent-events.js';
import type { StoreRoom } from './room.js';
import { loadScript } from './scripts.js';
import { readCheckpoint, readSummary } from './sweep-memory.js';

const acquireLease = loadScript('acquire-lease');
const extendLease = loadScript('extend-lease');
const abandonSweep = loadScript('abandon-sweep');
const forgetBaseline = loadScript('forget-baseline');
const promotePages = loadScript('promote-pages');

/** So many that two lives of a workspace hardly share a token; few enough to be read in a sweep's id. */
const FIRST_TOKENS = 2 ** 40;

export function createSweepStore(redis: Redis, keys: Keys, workspace: string): SweepStore {
  const room = { redis, keys, workspace };
  return {
    ...leases(room),
    ...remembered(room),
    load: (list) => loadSweep(redis, keys, workspace, list),
    members: (list, page) => readMembers(room, list, page),
    membership: (list) => readMembership(room, list),
    recentEvents: (sinceMs, limit) => recentEvents(room, sinceMs, limit),
    commitPage: (list, commit) => commitPage(room, list, commit),
    commitRemovals: (list, commit) => commitRemovals(room, list, commit),
    async promotePages(list, { token, promote, drop }) {
      const touched = [keys.walk(workspace, list), keys.members(workspace, list), keys.lease(workspace, list)];
      const fields = [...promote, ...drop].map((page) => `p ${page}`);
      return committed(promotePages, await promotePages.run(redis, touched, [token, promote.length, ...fields]));
    },
    async abandon(list, token) {
      const touched = [keys.sweep, keys.walk, keys.lease, keys.members].map((key) => key(workspace, list));
      const [field, packed] = memberField(STRAYS, strays(await readMembership(room, list)));
      return committed(abandonSweep, await abandonSweep.run(redis, touched, [token, field, packed]));
    },
    async forgetBaseline(list) {
      await forgetBaseline.run(redis, [keys.sweep(workspace, list), keys.lease(workspace, list)], []);
    },
    removalsAcceptedAt: (list) => redis.hget(keys.sweep(workspace, list), 'removalsAcceptedAt'),
    acceptRemovals: (list) => acceptRemovals(room, list),
    creationsAcceptedAt: (list) => redis.hget(keys.sweep(workspace, list), 'creationsAcceptedAt'),
    acceptCreations: (list) => acceptCreations(room, list),
  };
}

function leases({ redis, keys, workspace }: StoreRoom): Pick<SweepStore, 'acquire' | 'renew' | 'release'> {
  const lease = (list: ListName): string => keys.lease(workspace, list);
  return {
    async acquire(list, ttlMs): Promise<AcquireResult> {
      const [word, token = '', left] = words(
        acquireLease,
        await acquireLease.run(redis, [lease(list), keys.fence(workspace)], [ttlMs, randomInt(FIRST_TOKENS)]),
      );
      if (word === 'acquired') return { outcome: 'acquired', token };
      if (word !== 'held') throw unexpectedAnswer(acquireLease, word);
      return { outcome: 'held', holder: token, expiresInMs: Math.max(0, Number(left)) };
    },
    async renew(list, token, ttlMs) {
      const [word] = words(extendLease, await extendLease.run(redis, [lease(list)], [token, ttlMs]));
      return word === 'extended';
    },
    async release(list, token) {
      await extendLease.run(redis, [lease(list)], [token, 0]);
    },
  };
}

type Remembered = Pick<
  SweepStore,
  'digests' | 'records' | 'quarantinedKeys' | 'quarantined' | 'schema' | 'schemaSequences'
>;

function remembered({ redis, keys, workspace }: StoreRoom): Remembered {
  return {
    async digests(list, wanted) {
      return await inChunks(wanted, (chunk) => redis.hmget(keys.digests(workspace, list), ...chunk));
    },
    async records(list, wanted) {
      return await inChunks(wanted, async (chunk) => {
        const packed = await redis.hmgetBuffer(keys.records(workspace, list), ...chunk);
        return packed.map((bytes) => (bytes === null ? null : unpackRecord(bytes)));
      });
    },
    async quarantinedKeys(list) {
      const names = await redis.hkeys(keys.walk(workspace, list));
      const held = names.filter((name) => name.startsWith('h ')).map((name) => name.slice(2));
      return held.sort();
    },
    async quarantined(list, wanted) {
      return await inChunks(wanted, async (chunk) => {
        const names = chunk.map((key) => `h ${key}`);
        const packed = await redis.hmgetBuffer(keys.walk(workspace, list), ...names);
        return packed.map((bytes) => (bytes === null ? null : unpackWaiting(bytes)));
      });
    },
    async schema(list) {
      const fields = Object.entries(await redis.hgetall(keys.sweep(workspace, list)));
      const counters = fields.filter(([name]) => name.startsWith('schema '));
      return schemaFrom(counters.map(([name, rows]) => [name.slice('schema '.length), Number(rows)]));
    },
    async schemaSequences(list, wanted) {
      const names = wanted.map((field) => `schemaEvents ${field}`);
      const counts = await inChunks(names, (chunk) => redis.hmget(keys.sweep(workspace, list), ...chunk));
      return counts.map(Number);
    },
  };
}

/** Redis answers one read before it hears the next: a read of 60,000 fields would keep everybody waiting. */
const CHUNK = 1_000;

async function inChunks<T>(wanted: readonly string[], read: (chunk: string[]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let at = 0; at < wanted.length; at += CHUNK) {
    for (const one of await read(wanted.slice(at, at + CHUNK))) all.push(one);
  }
  return all;
}

export async function loadSweep(redis: Redis, keys: Keys, workspace: string, list: ListName): Promise<StoredSweep> {
  const [[stored = null, lastSweep = null, baselineAt = null, quiet = null], walked] = await Promise.all([
    redis.hmget(keys.sweep(workspace, list), 'checkpoint', 'lastSweep', 'baselineAt', 'quiet'),
    redis.hkeys(keys.walk(workspace, list)),
  ]);
  const checkpoint = readCheckpoint(stored);
  const cursors = walked.filter((name) => name.startsWith('c ')).map((name) => name.slice(2));
  return {
    checkpoint,
    cursors: checkpoint === null ? [] : cursors,
    cutOff: checkpoint === null && walked.some((name) => !name.startsWith('h ')),
    state: { baselineAt, quiet: quiet !== null, lastSweep: readSummary(lastSweep) },
  };
}
