/** Reads a list's stored records for the mirror. Changes nothing. */
import { GONE } from '../detect/removal.js';
import type { Redis } from '../redis/client.js';
import type { MirrorStore } from '../server/mirror/store.js';
import { readSummary } from './checkpoint.js';
import type { Keys } from './keys.js';
import { countRecords, everyDigest, readRecords } from './stored-records.js';

export function createMirrorStore(redis: Redis, keys: Keys, workspace: string): MirrorStore {
  const scope = { redis, keys, workspace };
  return {
    async status(list) {
      const sweep = keys.sweep(workspace, list);
      const [[baselineAt = null, lastSweep = null], records, leases] = await Promise.all([
        redis.hmget(sweep, 'baselineAt', 'lastSweep'),
        countRecords(scope, list),
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
      for await (const [key, digest] of everyDigest(scope, list)) if (digest !== GONE) found.add(key);
      return [...found];
    },
    async images(list, wanted) {
      const stored = await readRecords(scope, list, wanted);
      return stored.map((record) => record?.image ?? null);
    },
  };
}
