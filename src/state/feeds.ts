/** What is to be sent to a subscription beside the log, and how far that is: one hash of tasks, and a snapshot's chunk. */
import type { Redis } from 'ioredis';
import { describe } from '../errors.js';
import type { BackfillStore, StagedChunk, TaskStep } from '../dispatch/ports.js';
import { unexpectedAnswer } from './answer.js';
import type { Keys } from './keys.js';
import { loadScript } from './scripts.js';

const stepScript = loadScript('feed-step');

interface Step extends TaskStep {
  subscription: string;
  /** '' for a task without a snapshot's chunk. */
  workspace: string;
  dropStaged: boolean;
  chunk?: StagedChunk;
}

export class RedisFeedStore implements BackfillStore {
  readonly #redis: Redis;
  readonly #keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async tasks(subscription: string): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries(await this.#redis.hgetall(this.#keys.feeds(subscription))));
  }

  async begin(subscription: string, name: string, text: string): Promise<void> {
    await this.#redis.hsetnx(this.#keys.feeds(subscription), name, text);
  }

  move(subscription: string, step: TaskStep): Promise<boolean> {
    return this.#step({ ...step, subscription, workspace: '', dropStaged: false });
  }

  stage(subscription: string, workspace: string, step: TaskStep & StagedChunk): Promise<boolean> {
    return this.#step({ ...step, subscription, workspace, dropStaged: false, chunk: step });
  }

  staged(subscription: string, workspace: string): Promise<string[]> {
    return this.#redis.lrange(this.#keys.staged(subscription, workspace), 0, -1);
  }

  unstage(subscription: string, workspace: string, step: TaskStep): Promise<boolean> {
    return this.#step({ ...step, subscription, workspace, dropStaged: true });
  }

  async seen(subscription: string, workspace: string, records: readonly string[]): Promise<(string | null)[]> {
    return records.length === 0 ? [] : await this.#redis.hmget(this.#keys.seen(subscription, workspace), ...records);
  }

  async forgetSeen(subscription: string, workspace: string): Promise<void> {
    await this.#redis.unlink(this.#keys.seen(subscription, workspace));
  }

  async #step({ subscription, workspace, name, from, to, dropStaged, chunk }: Step): Promise<boolean> {
    const { feeds, staged, seen } = this.#keys;
    const keys = [feeds(subscription), staged(subscription, workspace), seen(subscription, workspace)];
    const records = chunk?.records ?? [];
    const word = await stepScript.run(this.#redis, keys, [
      ...[name, from, to ?? '', dropStaged ? 'drop' : 'keep', chunk?.tail ?? '', records.length],
      ...records.flatMap(({ record, event }) => [record, event === null ? '' : JSON.stringify(event)]),
    ]);
    if (word === 'moved' || word === 'stale') return word === 'moved';
    throw unexpectedAnswer(stepScript, describe(word));
  }
}
