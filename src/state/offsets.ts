/** The offset up to which each subscription has read each workspace's log: one hash per workspace. */
import type { Redis } from 'ioredis';
import { describe } from '../errors.js';
import type { OffsetStore } from '../dispatch/ports.js';
import { gatherEach } from '../runtime/gather.js';
import type { Keys } from './keys.js';
import { loadScript } from './scripts.js';
import { unreadable } from './stored.js';

const advanceOffsets = loadScript('advance-offsets');

/** More than a process has subscriptions. */
const MOST_AT_ONCE = 1_000;

/** What all readers of a workspace ask in the same turn of the event loop is one command. */
export function createOffsetStore(redis: Redis, keys: Keys): OffsetStore {
  const readEach = gatherEach(
    (workspace, subscriptions: readonly string[]) => redis.hmget(keys.offsets(workspace), ...subscriptions),
    MOST_AT_ONCE,
  );
  const advanceEach = gatherEach(
    async (workspace, moves: readonly [subscription: string, from: string, to: string][]) => {
      await advanceOffsets.run(redis, [keys.offsets(workspace)], moves.flat());
      return [];
    },
    MOST_AT_ONCE,
  );
  const get = async (workspace: string, subscription: string): Promise<string | null> => {
    const offset = await readEach(workspace, subscription);
    return offset === null ? null : readOffset(offset, keys.offsets(workspace), subscription);
  };
  return {
    get,
    async advance(workspace, subscription, { from, to }) {
      await advanceEach(workspace, [subscription, from, to]);
    },
    async begin(workspace, subscription, logId) {
      const first = await redis.hsetnx(keys.offsets(workspace), subscription, logId);
      return first === 1 ? logId : ((await get(workspace, subscription)) ?? logId);
    },
  };
}

/** `0` stands before every event. */
export function readOffset(text: string, hash: string, subscription: string): string {
  if (/^\d+(-\d+)?$/u.test(text)) return text;
  const remedy = `HSET ${hash} ${subscription} <log id> sets it; HDEL makes the subscription begin as a new one.`;
  throw unreadable({ key: hash, field: subscription, what: 'an offset in the log', remedy }, describe(text));
}
