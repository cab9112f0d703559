/** The deliveries of a subscription that are neither handled nor dead: only read. */
import type { Redis } from '../redis/client.js';
import type { Keys } from '../redis/keys.js';
import { SCORE_PER_MS } from './groups/heads.js';

const SCANNED = 1_000;

export interface WaitingDelivery {
  id: string;
  /** Attempts that have ended. */
  attempts: number;
  /** When it is tried next, ms; null where it waits for its turn. */
  nextAtMs: number | null;
}

export function createWaitingStore(redis: Redis, keys: Keys) {
  const describe = async (subscription: string, ids: readonly string[]): Promise<WaitingDelivery[]> => {
    const scores = await Promise.all(ids.map((id) => redis.zscore(keys.delayedJobs(subscription), id)));
    const attempts = await Promise.all(ids.map((id) => redis.hget(keys.job(subscription, id), 'atm')));
    return ids.map((id, at) => {
      const score = scores[at] ?? null;
      return {
        ...{ id, attempts: Number(attempts[at] ?? 0) },
        nextAtMs: score === null ? null : Math.floor(Number(score) / SCORE_PER_MS),
      };
    });
  };
  return {
    /** The newest by their place in the log, newest first. */
    newest: async (subscription: string, workspace: string, count: number) =>
      describe(subscription, await redis.zrevrange(keys.pending(subscription, workspace), 0, count - 1)),
    /** Deliveries of the event from the log, from replays and from snapshots. */
    async ofEvent(subscription: string, workspace: string, eventId: string): Promise<WaitingDelivery[]> {
      const match = `${eventId.replace(/[\\*?[\]]/g, '\\$&')}.*`;
      const ids = new Set<string>();
      const scan = redis.zscanStream(keys.pending(subscription, workspace), { match, count: SCANNED });
      for await (const found of scan) for (const id of (found as string[]).filter((_, at) => at % 2 === 0)) ids.add(id);
      return await describe(subscription, [...ids]);
    },
  };
}
