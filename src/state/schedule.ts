/** When a list was swept last, and why its last attempts failed: fields of the list's sweep hash. */
import type { Redis } from 'ioredis';
import type { ListFailure, ListTimes, ScheduleStore } from '../sweep/schedule.js';
import type { Keys } from './keys.js';
import { readSummary } from './sweep-memory.js';

export function createScheduleStore(redis: Redis, keys: Keys, workspace: string): ScheduleStore {
  return {
    async times(list) {
      const [summary = null, failure = null] = await redis.hmget(keys.sweep(workspace, list), 'lastSweep', 'failure');
      return timesFrom(summary, failure);
    },
    async noteFailure(list, failure) {
      await redis.hset(keys.sweep(workspace, list), 'failure', JSON.stringify(failure));
    },
    async clearFailure(list) {
      const json = await redis.hget(keys.sweep(workspace, list), 'failure');
      if (json === null) return null;
      await redis.hdel(keys.sweep(workspace, list), 'failure');
      return JSON.parse(json) as ListFailure;
    },
  };
}

export function timesFrom(summary: string | null, failureJson: string | null): ListTimes {
  const lastSweep = readSummary(summary);
  const failure = failureJson === null ? null : (JSON.parse(failureJson) as ListFailure);
  return { lastSweep, failure: isOver(failure, lastSweep) ? null : failure };
}

/** A process killed between completing a sweep and clearing the failure leaves one that is over. */
function isOver(failure: ListFailure | null, lastSweep: ListTimes['lastSweep']): boolean {
  return failure !== null && lastSweep !== null && Date.parse(lastSweep.completedAt) > Date.parse(failure.at);
}
