/** The offset up to which each subscription has read each workspace's log: one hash per subscription. */
import { describe } from '../errors.js';
import type { OffsetStore } from '../dispatch/ports.js';
import type { Redis } from '../redis/client.js';
import { gatherEach } from '../runtime/gather.js';
import type { Keys } from './keys.js';
import { loadScript } from './scripts.js';
import { unreadable } from './stored.js';

const advanceOffsets = loadScript('advance-offsets');

/** In `readers`: a dispatcher has the subscription in its configuration. */
export const CONFIGURED = '0';

/** More than a process has workspaces. */
const MOST_AT_ONCE = 1_000;

/** What the readers of a subscription ask in the same turn of the event loop is one command. */
export function createOffsetStore(redis: Redis, keys: Keys): OffsetStore {
  const readEach = gatherEach(
    (subscription, workspaces: readonly string[]) => redis.hmget(keys.offsets(subscription), ...workspaces),
    MOST_AT_ONCE,
  );
  const advanceEach = gatherEach(
    async (subscription, moves: readonly [workspace: string, from: string, to: string][]) => {
      await advanceOffsets.run(redis, [keys.offsets(subscription)], moves.flat());
      return [];
    },
    MOST_AT_ONCE,
  );
  const get = async (workspace: string, subscription: string): Promise<string | null> => {
    const offset = await readEach(subscription, workspace);
    return offset === null ? null : readOffset(offset, keys.offsets(subscription), workspace);
  };
  return {
    get,
    async advance(workspace, subscription, { from, to }) {
      await advanceEach(subscription, [workspace, from, to]);
    },
    async begin(workspace, subscription, logId) {
      // Before it has an offset, so that the log keeps what it reads from then on.
      await redis.hset(keys.readers(workspace), subscription, CONFIGURED);
      const first = await redis.hsetnx(keys.offsets(subscription), workspace, logId);
      return first === 1 ? logId : ((await get(workspace, subscription)) ?? logId);
    },
  };
}

/** `0` stands before every event. */
export function readOffset(text: string, hash: string, workspace: string): string {
  if (/^\d+(-\d+)?$/u.test(text)) return text;
  const remedy = `HSET ${hash} ${workspace} <log id> sets it; HDEL makes the subscription begin as a new one.`;
  throw unreadable({ key: hash, field: workspace, what: 'an offset in the log', remedy }, describe(text));
}
