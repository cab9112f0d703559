/** How many messages may still be sent to a destination in this window: a counter that expires, of all subscriptions and workspaces. */
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';
import type { Subscription } from '../handlers/handler.js';
import { ALLOWANCE_MS } from '../moments.js';

export function createAllowanceStore(redis: Redis, keys: Keys) {
  return {
    /**
     * Taken before the events are entered, so that a process that is killed in between takes too few, never too many.
     * @returns how many of the wanted ones, and when the window ends, ms from now
     */
    async take(subscription: Subscription, { messages, most }: { messages: number; most: number }) {
      const key = keys.allowance(subscription.destination ?? subscription.name);
      const answers = await redis.multi().incrby(key, messages).pexpire(key, ALLOWANCE_MS, 'NX').pttl(key).exec();
      const [taken = 0, , endsInMs = 0] = (answers ?? []).map(([error, answer]) => {
        if (error) throw error;
        return Number(answer);
      });
      return { messages: Math.min(messages, Math.max(0, most - (taken - messages))), endsInMs: Math.max(0, endsInMs) };
    },
  };
}

/** The limit of a destination is the highest of those that post there: with a lower one, a subscription only has its digests earlier. */
export function limitOf(given: { subscription: Subscription; subscriptions: readonly Subscription[] }) {
  const { mostPerMinute, destination } = given.subscription;
  if (mostPerMinute === undefined) return undefined;
  const others = given.subscriptions.filter((one) => destination !== undefined && one.destination === destination);
  return Math.max(mostPerMinute, ...others.map((one) => one.mostPerMinute ?? 0));
}
