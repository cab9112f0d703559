/** How much the subscriptions have handled lately, from BullMQ's completed jobs, which it keeps in the order of their end. */
import type { Redis } from 'ioredis';
import type { Keys } from './keys.js';

/** Jobs of each subscription that were completed since `sinceMs`; as many are counted as BullMQ keeps. */
export async function handledSince(
  redis: Redis,
  keys: Keys,
  { subscriptions, sinceMs }: { subscriptions: readonly string[]; sinceMs: number },
): Promise<Map<string, number>> {
  const pipeline = redis.pipeline();
  for (const name of subscriptions)
    pipeline.zcount(`${keys.subscriptionQueuePrefix(name)}:${name}:completed`, sinceMs, '+inf');
  const answers = (await pipeline.exec()) ?? [];
  return new Map(subscriptions.map((name, index) => [name, Number(answers[index]?.[1] ?? 0)]));
}
