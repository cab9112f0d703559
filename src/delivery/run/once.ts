/** The marks of `once`: one hash with TTL per subscription and event, a field per side effect. */
import { randomBytes } from 'node:crypto';
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';

/** Longer than any retry schedule, and than dead letters are kept. A replay after that runs the effect again. */
const KEPT_MS = 30 * 86_400_000;

interface OnceMark {
  subscription: string;
  workspace: string;
  eventId: string;
  key: string;
}

export type OnceStore = ReturnType<typeof createOnceStore>;

export function createOnceStore(redis: Redis, keys: Keys) {
  const hashOf = ({ subscription, workspace, eventId }: OnceMark): string =>
    keys.once(subscription, workspace, eventId);
  return {
    /** `begun`: this call has started it. `started`: an earlier call did, and its end is unknown. */
    async begin(mark: OnceMark): Promise<'begun' | 'started' | 'done'> {
      const hash = hashOf(mark);
      // The client sends a command again when its reply was lost. The token shows that the mark is its own.
      const own = `started ${randomBytes(6).toString('hex')}`;
      const marking = redis.multi().hsetnx(hash, mark.key, own).hget(hash, mark.key).pexpire(hash, KEPT_MS);
      const [, state] = ((await marking.exec()) ?? []).map(([error, answer]) => {
        if (error) throw error;
        return answer;
      });
      if (state === own) return 'begun';
      return state === 'done' ? 'done' : 'started';
    },
    async finish(mark: OnceMark): Promise<void> {
      await redis.hset(hashOf(mark), mark.key, 'done');
    },
    async forget(mark: OnceMark): Promise<void> {
      await redis.hdel(hashOf(mark), mark.key);
    },
  };
}
