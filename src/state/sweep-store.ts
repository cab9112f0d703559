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
import { acceptRemovals, memberField, readMembers, readMembership, strays } from './membership.js';
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

type Remembered = Pick<SweepStore, 'digests' | 'records' | 'heldKeys' | 'held' | 'schema' | 'schemaSequences'>;

function remembered({ redis, keys, workspace }: StoreRoom): Remembered {
  return {
    async digests(list, wanted) {
      return wanted.length === 0 ? [] : await redis.hmget(keys.digests(workspace, list), ...wanted);
    },
    async records(list, wanted) {
      const packed = wanted.length === 0 ? [] : await redis.hmgetBuffer(keys.records(workspace, list), ...wanted);
      return packed.map((bytes) => (bytes === null ? null : unpackRecord(bytes)));
    },
    async heldKeys(list) {
      const names = await redis.hkeys(keys.walk(workspace, list));
      const held = names.filter((name) => name.startsWith('h ')).map((name) => name.slice(2));
      return held.sort();
    },
    async held(list, wanted) {
      if (wanted.length === 0) return [];
      const packed = await redis.hmgetBuffer(keys.walk(workspace, list), ...wanted.map((key) => `h ${key}`));
      return packed.map((bytes) => (bytes === null ? null : unpackWaiting(bytes)));
    },
    async schema(list) {
      const fields = Object.entries(await redis.hgetall(keys.sweep(workspace, list)));
      const counters = fields.filter(([name]) => name.startsWith('schema '));
      return schemaFrom(counters.map(([name, rows]) => [name.slice('schema '.length), Number(rows)]));
    },
    async schemaSequences(list, wanted) {
      if (wanted.length === 0) return [];
      const counts = await redis.hmget(keys.sweep(workspace, list), ...wanted.map((field) => `schemaEvents ${field}`));
      return counts.map(Number);
    },
  };
}

export async function loadSweep(redis: Redis, keys: Keys, workspace: string, list: ListName): Promise<StoredSweep> {
  const [[stored = null, lastSweep = null, baselineAt = null], walked] = await Promise.all([
    redis.hmget(keys.sweep(workspace, list), 'checkpoint', 'lastSweep', 'baselineAt'),
    redis.hkeys(keys.walk(workspace, list)),
  ]);
  const checkpoint = readCheckpoint(stored);
  const cursors = walked.filter((name) => name.startsWith('c ')).map((name) => name.slice(2));
  return {
    checkpoint,
    cursors: checkpoint === null ? [] : cursors,
    cutOff: checkpoint === null && walked.some((name) => !name.startsWith('h ')),
    state: { baselineAt, lastSweep: readSummary(lastSweep) },
  };
}
