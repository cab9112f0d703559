/** How far each subscription has read each workspace's log: one hash per workspace. */
import type { Redis } from 'ioredis';
import type { OffsetStore } from '../dispatch/ports.js';
import type { Keys } from './keys.js';

export class RedisPlaceStore implements OffsetStore {
  readonly #redis: Redis;
  readonly #keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  get(workspace: string, subscription: string): Promise<string | null> {
    return this.#redis.hget(this.#keys.places(workspace), subscription);
  }

  async set(workspace: string, subscription: string, logId: string): Promise<void> {
    await this.#redis.hset(this.#keys.places(workspace), subscription, logId);
  }

  async begin(workspace: string, subscription: string, logId: string): Promise<string> {
    const first = await this.#redis.hsetnx(this.#keys.places(workspace), subscription, logId);
    return first === 1 ? logId : ((await this.get(workspace, subscription)) ?? logId);
  }
}
