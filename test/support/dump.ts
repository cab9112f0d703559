/** Everything in Redis under a prefix, as text, for tests about contents that must not be stored. */
import type { Redis } from 'ioredis';

export async function dumpOf(redis: Redis, prefix: string): Promise<Map<string, string>> {
  const dump = new Map<string, string>();
  for await (const found of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    const keys = found as string[];
    // Commands of one turn are sent together.
    const types = await Promise.all(keys.map((key) => redis.type(key)));
    const values = await Promise.all(keys.map((key, index) => valueOf(redis, key, types[index])));
    keys.forEach((key, index) => dump.set(key, JSON.stringify(values[index])));
  }
  return dump;
}

async function valueOf(redis: Redis, key: string, type: string | undefined): Promise<unknown> {
  // Redis gives the fields of a hash in any order.
  if (type === 'hash') return Object.fromEntries(Object.entries(await redis.hgetall(key)).sort());
  if (type === 'list') return redis.lrange(key, 0, -1);
  if (type === 'set') return (await redis.smembers(key)).sort();
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'stream') return redis.xrange(key, '-', '+');
  return redis.get(key);
}

export function keysWith(dump: ReadonlyMap<string, string>, words: readonly string[]): string[] {
  return [...dump]
    .filter(([key, value]) => words.some((word) => key.includes(word) || value.includes(word)))
    .map(([key]) => key);
}
