/** How many events of a workspace a subscription may still handle one by one in this window: a counter that expires. */
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';

interface Wanted {
  events: number;
  most: number;
  windowMs: number;
}

export function createAllowanceStore(redis: Redis, keys: Keys) {
  return {
    /**
     * Taken before the events are entered, so that a process that is killed in between takes too few, never too many.
     * @returns how many of the wanted ones, and when the window ends, ms from now
     */
    async take(workspace: string, subscription: string, { events, most, windowMs }: Wanted) {
      const key = keys.allowance(subscription, workspace);
      const answers = await redis.multi().incrby(key, events).pexpire(key, windowMs, 'NX').pttl(key).exec();
      const [taken = 0, , endsInMs = 0] = (answers ?? []).map(([error, answer]) => {
        if (error) throw error;
        return Number(answer);
      });
      return { events: Math.min(events, Math.max(0, most - (taken - events))), endsInMs: Math.max(0, endsInMs) };
    },
  };
}
