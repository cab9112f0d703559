/** What Redis does when its memory is full. Everything kept in it belongs together, so the one good answer is to evict nothing. */
import type { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import { classifyRedisError } from './redis-errors.js';

const SAFE_POLICY = 'noeviction';

/**
 * The value of `maxmemory-policy`; null where we may not ask. INFO first: managed services that forbid CONFIG allow it.
 * @throws what Redis answers when it cannot be asked at all
 */
export async function readEvictionPolicy(redis: Redis): Promise<string | null> {
  const info = await unlessForbidden(redis.info('memory'));
  const shown = /^maxmemory_policy:([\w-]+)/m.exec(info ?? '')?.[1];
  if (shown !== undefined) return shown;
  const answer = await unlessForbidden(redis.config('GET', 'maxmemory-policy'));
  const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
  return typeof value === 'string' ? value : null;
}

/** Volatile policies as well: leases, the request budget and BullMQ's locks are keys with a time to live. */
export function evicts(policy: string | null): policy is string {
  return policy !== null && policy !== SAFE_POLICY;
}

export function evictionError(place: string, policy: string): ChangefeedError {
  return new ChangefeedError('CF_REDIS_EVICTS', {
    found: policy,
    message:
      `Redis at ${place} has maxmemory-policy "${policy}" and may evict keys, which loses records and invents events. ` +
      `Set it to ${SAFE_POLICY}: CONFIG SET maxmemory-policy ${SAFE_POLICY}, and the line "maxmemory-policy ${SAFE_POLICY}" in redis.conf. ` +
      `If state may be lost, allow it in the configuration: redis: { allowEviction: true }.`,
  });
}

async function unlessForbidden<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (classifyRedisError(error) !== 'other' || !/NOPERM|unknown command/i.test(messageOf(error))) throw error;
    return null;
  }
}
