/** Whether this Redis may hold state and takes writes, for the status. */
import type { Redis } from 'ioredis';
import type { RedisStatus } from '../observability/status.js';
import { messageOf } from '../errors.js';
import { evicts, readEvictionPolicy } from '../runtime/redis-conditions.js';
import { classifyRedisError } from '../runtime/redis-errors.js';
import type { Keys } from './keys.js';

export async function readRedisStatus(
  redis: Redis,
  keys: Keys,
  { allowEviction }: { allowEviction: boolean },
): Promise<RedisStatus> {
  const [evictionPolicy, refuses] = await Promise.all([readEvictionPolicy(redis), refusalOf(redis, keys.probe())]);
  return { evictionPolicy, mayEvict: evicts(evictionPolicy) && !allowEviction, refuses };
}

/** Writes nothing, and is refused like any other write. */
async function refusalOf(redis: Redis, probe: string): Promise<RedisStatus['refuses']> {
  try {
    await redis.setrange(probe, 0, '');
    return null;
  } catch (error) {
    const kind = classifyRedisError(messageOf(error));
    if (kind === 'out of memory' || kind === 'read-only') return kind;
    throw error;
  }
}
