/** Reads a list's stored records for the mirror. Changes nothing. */
import type { ListName } from '../../../crm/lists/lists.js';
import { isInList, isStored } from '../../../feed/detect/record-state.js';
import type { Redis } from '../../../redis/client.js';
import { readSummary } from '../../../feed/store/checkpoint.js';
import type { Keys } from '../../../redis/keys.js';
import { countRecords, everyDigest, readRecords } from '../../../feed/store/stored-records.js';

export interface MirroredList {
  /** ISO 8601: when the first complete sweep ended; null before that. */
  baselineAt: string | null;
  /** ISO 8601: when the last complete sweep ended. */
  completedAt: string | null;
  sweeping: boolean;
  /** Changes whenever the list may have gained or lost records. */
  version: string;
}

export type MirrorStore = ReturnType<typeof createMirrorStore>;

export function createMirrorStore(redis: Redis, keys: Keys, workspace: string) {
  const scope = { redis, keys, workspace };
  return {
    async status(list: ListName): Promise<MirroredList> {
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
    async keys(list: ListName): Promise<string[]> {
      const found = new Set<string>();
      for await (const step of everyDigest(scope, list))
        for (const [key, digest] of step) if (isInList(digest)) found.add(key);
      return [...found];
    },
    /** The records' JSON as upstream sent it; null for a record that is gone. */
    async images(list: ListName, wanted: readonly string[]): Promise<(string | null)[]> {
      const stored = await readRecords(scope, list, wanted);
      return stored.map((record) => (isStored(record) ? record.image : null));
    },
  };
}
