/** When a list was swept last, and why its last attempts failed: fields of the list's sweep hash. */
import type { ListName } from '../crm/lists/lists.js';
import type { Redis } from '../redis/client.js';
import type { ListTimes } from '../sweep/schedule.js';
import { listFailureSchema, type ListFailure } from '../sweep/store.js';
import { readSummary } from './checkpoint.js';
import type { Keys, WorkspaceRedis } from './keys.js';
import { readJson } from './stored.js';

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export function createScheduleStore(redis: Redis, keys: Keys, workspace: string) {
  const scope = { redis, keys, workspace };
  return {
    times: (list: ListName) => readTimes(scope, list),
    async noteFailure(list: ListName, failure: ListFailure): Promise<void> {
      await redis.hset(keys.sweep(workspace, list), 'failure', JSON.stringify(failure));
    },
    /** As a complete sweep does. */
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

export function timesIn<Summary extends ListTimes['lastSweep']>(
  { keys, workspace }: WorkspaceRedis,
  list: ListName,
  { summary: lastSweep, failure: json }: { summary: Summary; failure: string | null },
): ListTimes & { lastSweep: Summary } {
  return { lastSweep, failure: json === null ? null : readFailure(json, keys.sweep(workspace, list)) };
}

export function readFailure(json: string, key: string, field: 'failure' | 'lastFailure' = 'failure'): ListFailure {
  return readJson(listFailureSchema, json, { what: 'why the last attempts to sweep a list failed', key, field });
}
