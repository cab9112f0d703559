/** The sweep's memory in Redis: what was known, what a page changed, who may write. */
import type { Redis } from 'ioredis';
import type { ListName } from '../events/lists.js';
import type {
  AcquireResult,
  Checkpoint,
  CommitResult,
  PageCommit,
  StoredSweep,
  SweepStore,
  SweepSummary,
} from '../sweep/store.js';
import { unexpectedAnswer, words } from './answer.js';
import type { Keys } from './keys.js';
import { packRecord, unpackRecord } from './packing.js';
import { loadScript } from './scripts.js';

const acquireLease = loadScript('acquire-lease');
const extendLease = loadScript('extend-lease');
const commitPage = loadScript('commit-page');
const abandonSweep = loadScript('abandon-sweep');

export function createSweepStore(redis: Redis, keys: Keys, workspace: string): SweepStore {
  const lease = (list: ListName): string => keys.lease(workspace, list);
  return {
    async acquire(list, ttlMs): Promise<AcquireResult> {
      const [word, token = '', left] = words(
        acquireLease,
        await acquireLease.run(redis, [lease(list), keys.fence(workspace)], [ttlMs]),
      );
      if (word === 'acquired') return { outcome: 'acquired', token };
      return { outcome: 'held', holder: token, expiresInMs: Math.max(0, Number(left)) };
    },
    async renew(list, token, ttlMs) {
      const [word] = words(extendLease, await extendLease.run(redis, [lease(list)], [token, ttlMs]));
      return word === 'extended';
    },
    async release(list, token) {
      await extendLease.run(redis, [lease(list)], [token, 0]);
    },
    load: (list) => loadSweep(redis, keys, workspace, list),
    async digests(list, wanted) {
      return wanted.length === 0 ? [] : await redis.hmget(keys.digests(workspace, list), ...wanted);
    },
    async records(list, wanted) {
      const packed = wanted.length === 0 ? [] : await redis.hmget(keys.records(workspace, list), ...wanted);
      return packed.map((text) => (text === null ? null : unpackRecord(text)));
    },
    commitPage: (list, commit) => commit_(redis, keysOf(keys, workspace, list), commit),
    async abandon(list, token) {
      const touched = [keys.sweep(workspace, list), keys.cursors(workspace, list), lease(list)];
      await abandonSweep.run(redis, touched, [token]);
    },
    async forgetBaseline(list) {
      await redis.hdel(keys.sweep(workspace, list), 'baselineAt', 'checkpoint');
    },
  };
}

function keysOf(keys: Keys, workspace: string, list: ListName): string[] {
  return [
    keys.digests(workspace, list),
    keys.records(workspace, list),
    keys.log(workspace),
    keys.sweep(workspace, list),
    keys.cursors(workspace, list),
    keys.lease(workspace, list),
  ];
}

async function commit_(redis: Redis, keys: string[], commit: PageCommit): Promise<CommitResult> {
  const { token, checkpoint, summary, writes } = commit;
  const records = writes.flatMap(({ key, state, event }) => [
    key,
    state.digest,
    packRecord(state),
    event === null ? '' : JSON.stringify(event),
  ]);
  const answer = await commitPage.run(redis, keys, [
    token,
    checkpoint === null ? '' : JSON.stringify(checkpoint),
    checkpoint?.cursor ?? '',
    summary === null ? '' : JSON.stringify(summary),
    summary?.completedAt ?? '',
    writes.length,
    ...records,
  ]);
  const [word, detail = ''] = words(commitPage, answer);
  if (word === 'committed') return { outcome: 'committed', events: Number(detail) };
  if (word === 'fenced') return { outcome: 'fenced', holder: detail === '' ? null : detail };
  throw unexpectedAnswer(commitPage, word);
}

export async function loadSweep(redis: Redis, keys: Keys, workspace: string, list: ListName): Promise<StoredSweep> {
  const [[checkpoint = null, lastSweep = null, baselineAt = null], cursors] = await Promise.all([
    redis.hmget(keys.sweep(workspace, list), 'checkpoint', 'lastSweep', 'baselineAt'),
    redis.smembers(keys.cursors(workspace, list)),
  ]);
  return {
    checkpoint: checkpoint === null ? null : (JSON.parse(checkpoint) as Checkpoint),
    cursors: checkpoint === null ? [] : cursors,
    state: { baselineAt, lastSweep: lastSweep === null ? null : (JSON.parse(lastSweep) as SweepSummary) },
  };
}
