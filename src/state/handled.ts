/** From BullMQ's completed jobs, which it keeps in the order of their end. */
import type { Redis } from '../redis/client.js';
import type { Keys } from './keys.js';

/** Jobs of each subscription that were completed since `sinceMs`; as many are counted as BullMQ keeps. */
export async function handledSince(
  redis: Redis,
  keys: Keys,
  { subscriptions, sinceMs }: { subscriptions: readonly string[]; sinceMs: number },
): Promise<Map<string, number>> {
  const counts = subscriptions.map(async (name) => {
    const completed = `${keys.subscriptionQueuePrefix(name)}:${name}:completed`;
    return [name, await redis.zcount(completed, sinceMs, '+inf')] as const;
  });
  return new Map(await Promise.all(counts));
}
