/** The marks of `once`: one hash with TTL per subscription and event, a field per side effect. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { OnceMark, OnceStore } from '../dispatch/ports.js';
import type { Keys } from './keys.js';

/** Longer than any retry schedule, and than dead letters are kept. A replay after that runs the effect again. */
const KEPT_MS = 30 * 86_400_000;

export class RedisOnceStore implements OnceStore {
  readonly #redis: Redis;
  readonly #keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async begin({ subscription, workspace, eventId, key }: OnceMark): Promise<'begun' | 'started' | 'done'> {
    const hash = this.#keys.once(subscription, workspace, eventId);
    // The client sends a command again when its reply was lost. The token shows that the mark is its own.
    const own = `started ${randomBytes(6).toString('hex')}`;
    const answers = await this.#redis.multi().hsetnx(hash, key, own).hget(hash, key).pexpire(hash, KEPT_MS).exec();
    const [, state] = (answers ?? []).map(([error, answer]) => {
      if (error) throw error;
      return answer;
    });
    if (state === own) return 'begun';
    return state === 'done' ? 'done' : 'started';
  }

  async finish({ subscription, workspace, eventId, key }: OnceMark): Promise<void> {
    await this.#redis.hset(this.#keys.once(subscription, workspace, eventId), key, 'done');
  }

  async forget({ subscription, workspace, eventId, key }: OnceMark): Promise<void> {
    await this.#redis.hdel(this.#keys.once(subscription, workspace, eventId), key);
  }
}
