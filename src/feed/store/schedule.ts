/** When a list was swept last, and why its last attempts failed: fields of the list's sweep hash. */
import type { ListName } from '../../crm/lists/lists.js';
import type { Redis } from '../../redis/client.js';
import { listFailureSchema, type ListFailure, type SweepSummary } from './sweep-state.js';
import { readSummary } from './checkpoint.js';
import type { Keys, WorkspaceKeys, WorkspaceRedis } from '../../redis/keys.js';
import { readJson } from '../../redis/stored.js';

export interface ListTimes {
  /** The last complete sweep; null before the first. */
  lastSweep: SweepSummary | null;
  /** Null when the last attempt was complete. */
  failure: ListFailure | null;
}

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export function createScheduleStore(redis: Redis, keys: Keys, workspace: string) {
  const scope = { redis, keys, workspace };
  return {
    times: (list: ListName) => readTimes(scope, list),
    async noteFailure(list: ListName, failure: ListFailure): Promise<void> {
      await redis.hset(keys.sweep(workspace, list), 'failure', JSON.stringify(failure));
    },
    /** Clears the failure, as a complete sweep does. */
    async clearFailure(list: ListName): Promise<void> {
      const json = await redis.hget(keys.sweep(workspace, list), 'failure');
      if (json === null) return;
      readFailure(json, keys.sweep(workspace, list));
      await redis.hset(keys.sweep(workspace, list), 'lastFailure', json);
      await redis.hdel(keys.sweep(workspace, list), 'failure');
    },
  };
}

async function readTimes(scope: WorkspaceRedis, list: ListName): Promise<ListTimes> {
  const fields = await scope.redis.hmget(scope.keys.sweep(scope.workspace, list), 'lastSweep', 'failure');
  const [summary = null, failure = null] = fields;
  return timesIn(scope, list, { summary: readSummary(summary, scope, list), failure });
}

export function timesIn(
  { keys, workspace }: WorkspaceKeys,
  list: ListName,
  { summary: lastSweep, failure: json }: { summary: SweepSummary | null; failure: string | null },
): ListTimes {
  return { lastSweep, failure: json === null ? null : readFailure(json, keys.sweep(workspace, list)) };
}

export function readFailure(json: string, key: string, field: 'failure' | 'lastFailure' = 'failure'): ListFailure {
  return readJson(listFailureSchema, json, { what: 'why the last attempts to sweep a list failed', key, field });
}
