/** Reads a list's stored records for the mirror. Changes nothing. */
import type { Redis } from 'ioredis';
import { GONE } from '../detect/removal.js';
import type { MirrorStore } from '../server/mirror/store.js';
import { readSummary } from './checkpoint.js';
import type { Keys } from './keys.js';
import { unpackRecord } from './packing.js';

const SCAN_COUNT = 1_000;

export function createMirrorStore(redis: Redis, keys: Keys, workspace: string): MirrorStore {
  return {
    async status(list) {
      const sweep = keys.sweep(workspace, list);
      const [[baselineAt = null, lastSweep = null], records, leases] = await Promise.all([
        redis.hmget(sweep, 'baselineAt', 'lastSweep'),
        redis.hlen(keys.digests(workspace, list)),
        redis.exists(keys.lease(workspace, list)),
      ]);
      const completed = readSummary(lastSweep, { keys, workspace }, list);
      // New records appear while their sweep runs; removed ones disappear only at its end.
      return {
        baselineAt,
        completedAt: completed?.completedAt ?? null,
        sweeping: leases > 0,
        version: `${completed?.sweepId} ${records}`,
      };
    },
    async keys(list) {
      const found = new Set<string>();
      const stream = redis.hscanStream(keys.digests(workspace, list), { count: SCAN_COUNT });
      for await (const chunk of stream) {
        const pairs = chunk as string[];
        for (let at = 0; at < pairs.length; at += 2) if (pairs[at + 1] !== GONE) found.add(pairs[at] ?? '');
      }
      return [...found];
    },
    async images(list, wanted) {
      if (wanted.length === 0) return [];
      const hash = keys.records(workspace, list);
      const packed = await redis.hmgetBuffer(hash, ...wanted);
      return packed.map((bytes, index) =>
        bytes === null ? null : unpackRecord(bytes, hash, wanted[index] ?? '').image,
      );
    },
  };
}
