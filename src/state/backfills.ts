/** Backfills of a subscription (snapshots and replays): one hash of tasks, and the events of a snapshot that are being sent. */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { describe } from '../errors.js';
import type { BackfillStore, TaskStep } from '../dispatch/ports.js';
import { readEvent } from './event-log.js';
import type { Keys } from './keys.js';
import { loadScript, unexpectedAnswer } from './scripts.js';
import { readJson } from './stored.js';

const stepScript = loadScript('backfill-step');

/** What replays and snapshots have in common, and what only one of them has (dispatch/replay.ts, dispatch/snapshot.ts). */
const taskSchema = z.object({ id: z.string(), sent: z.number() }).and(
  z.union([
    z.object({
      workspace: z.string(),
      after: z.string(),
      last: z.string(),
      worker: z.string(),
      workedAtMs: z.number(),
      done: z.boolean(),
    }),
    z.object({
      left: z.array(z.string()),
      reading: z
        .object({ list: z.string(), from: z.object({ cursor: z.string(), server: z.string() }).nullable() })
        .nullable(),
      staged: z.boolean(),
      until: z.string(),
      scannedAtMs: z.number().nullable(),
      withoutImage: z.number(),
    }),
  ]),
);

export class RedisBackfillStore implements BackfillStore {
  readonly #redis: Redis;
  readonly #keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async tasks(subscription: string): Promise<ReadonlyMap<string, string>> {
    const key = this.#keys.backfills(subscription);
    const tasks = Object.entries(await this.#redis.hgetall(key));
    for (const [field, text] of tasks) {
      const remedy = `HDEL ${key} "${field}" ends this snapshot or replay; what it has not sent is not sent.`;
      readJson(taskSchema, text, { key, field, what: 'the task of a snapshot or replay', remedy });
    }
    return new Map(tasks);
  }

  async begin(subscription: string, name: string, text: string): Promise<void> {
    await this.#redis.hsetnx(this.#keys.backfills(subscription), name, text);
  }

  async staged(subscription: string, workspace: string): Promise<string[]> {
    const key = this.#keys.staged(subscription, workspace);
    const events = await this.#redis.lrange(key, 0, -1);
    const remedy = `DEL ${key} drops the events of the snapshot that are being sent.`;
    for (const json of events) readEvent(json, { key, what: 'an event', remedy });
    return events;
  }

  async seen(subscription: string, workspace: string, records: readonly string[]): Promise<(string | null)[]> {
    return records.length === 0 ? [] : await this.#redis.hmget(this.#keys.seen(subscription, workspace), ...records);
  }

  async forgetSeen(subscription: string, workspace: string): Promise<void> {
    await this.#redis.unlink(this.#keys.seen(subscription, workspace));
  }

  async step(subscription: string, { workspace, name, from, to, staged }: TaskStep): Promise<boolean> {
    const { backfills, staged: stagedKey, seen } = this.#keys;
    const keys = [backfills(subscription), stagedKey(subscription, workspace), seen(subscription, workspace)];
    const { tail, records } = typeof staged === 'object' ? staged : { tail: '', records: [] };
    const word = await stepScript.run(this.#redis, keys, [
      ...[
        name,
        from,
        to ?? '',
        staged === 'sent' ? 'drop' : staged === 'discarded' ? 'discard' : 'keep',
        tail,
        records.length,
      ],
      ...records.flatMap(({ record, event }) => [record, event === null ? '' : JSON.stringify(event)]),
    ]);
    if (word === 'moved' || word === 'stale') return word === 'moved';
    throw unexpectedAnswer(stepScript, describe(word));
  }
}
