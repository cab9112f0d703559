/** The offset up to which each subscription has read each workspace's log: one hash per workspace. */
import type { Redis } from 'ioredis';
import { describe } from '../errors.js';
import type { OffsetStore } from '../dispatch/ports.js';
import type { Keys } from './keys.js';
import { unreadable } from './stored.js';

export class RedisOffsetStore implements OffsetStore {
  readonly #redis: Redis;
  readonly #keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async get(workspace: string, subscription: string): Promise<string | null> {
    const hash = this.#keys.offsets(workspace);
    const offset = await this.#redis.hget(hash, subscription);
    return offset === null ? null : readOffset(offset, hash, subscription);
  }

  async set(workspace: string, subscription: string, logId: string): Promise<void> {
    await this.#redis.hset(this.#keys.offsets(workspace), subscription, logId);
  }

  async begin(workspace: string, subscription: string, logId: string): Promise<string> {
    const first = await this.#redis.hsetnx(this.#keys.offsets(workspace), subscription, logId);
    return first === 1 ? logId : ((await this.get(workspace, subscription)) ?? logId);
  }
}

/** `0` stands before every event. */
export function readOffset(text: string, hash: string, subscription: string): string {
  if (/^\d+(-\d+)?$/u.test(text)) return text;
  const remedy = `HSET ${hash} ${subscription} <log id> sets it; HDEL makes the subscription begin as a new one.`;
  throw unreadable({ key: hash, field: subscription, what: 'an offset in the log', remedy }, describe(text));
}
