/** What a Redis says about itself, for `changefeed doctor`. */
import { Redis } from 'ioredis';
import type { Clock } from '../runtime/clock.js';
import { readEvictionPolicy, readSetting, unlessForbidden } from './conditions.js';

export interface RedisFacts {
  /** The answer to INFO; null where reading it is not permitted. */
  info: string | null;
  /** `maxmemory-policy`; null where reading it is not permitted. */
  evictionPolicy: string | null;
  /** When RDB snapshots are written, as `CONFIG GET save` says; null where reading it is not permitted. */
  snapshots: string | null;
  /** The clock of Redis less ours, ms. */
  clockApartMs: number;
}

/** @throws the error of Redis */
export async function readRedisFacts(url: string, clock: Clock): Promise<RedisFacts> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  // The command that fails reports it.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const info = await unlessForbidden(redis.info());
    const evictionPolicy = await readEvictionPolicy(redis);
    const snapshots = await readSetting(redis, 'save');
    const askedAtMs = clock.now();
    const [seconds = 0, micros = 0] = (await redis.time()).map(Number);
    const clockApartMs = seconds * 1_000 + micros / 1_000 - (askedAtMs + clock.now()) / 2;
    return { info, evictionPolicy, snapshots, clockApartMs };
  } finally {
    redis.disconnect();
  }
}
