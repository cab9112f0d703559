/** From BullMQ's completed jobs, which it keeps in the order of their end. */
import type { Redis } from '../redis/client.js';
import { SKEW_MS } from '../kit/stored-time.js';
import type { Keys } from '../redis/keys.js';

const MINUTE_MS = 60_000;

/** Jobs of each subscription that were completed in the last minute; as many are counted as BullMQ keeps. */
export async function handledLastMinute(
  redis: Redis,
  keys: Keys,
  { subscriptions, nowMs }: { subscriptions: readonly string[]; nowMs: number },
): Promise<Map<string, number>> {
  const counts = subscriptions.map(async (name) => {
    const completed = `${keys.subscriptionQueuePrefix(name)}:${name}:completed`;
    return [name, await redis.zcount(completed, nowMs - MINUTE_MS, nowMs + SKEW_MS)] as const;
  });
  return new Map(await Promise.all(counts));
}
