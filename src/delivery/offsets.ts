/** The offset up to which each subscription has read each workspace's log: one hash per subscription. */
import { describe } from '../kit/errors.js';
import { Cluster, type Redis } from '../redis/client.js';
import { gatherEach } from '../kit/gather.js';
import type { Keys } from '../redis/keys.js';
import { createReads } from '../redis/reads.js';
import { loadScript } from '../redis/scripts.js';
import { unreadable } from '../redis/stored.js';

const advanceOffsets = loadScript('advance-offsets', import.meta.url);

/** In `readers`: a dispatcher has the subscription in its configuration. */
export const CONFIGURED = '0';

/** In `offsets`, beside the workspace's own: it had no order when it last read, so what waits has no group. */
export const unorderedField = (workspace: string): string => `${workspace} unordered`;

/** More than a process has readers. */
const MOST_AT_ONCE = 1_000;

type Place = readonly [subscription: string, workspace: string];

interface Move {
  /** `''`: there is none yet. */
  from: string;
  to: string;
  /** The serial that was entered last on the way. @defaultValue nothing was entered */
  entered?: string | undefined;
  /** The name of the task that was begun on the way. @defaultValue none was */
  task?: string | undefined;
}

/** What readers ask in one turn of the event loop is one command (in a Redis Cluster, one per subscription). */
export function createOffsetStore(redis: Redis, keys: Keys) {
  const together = (subscription: string): string => (redis instanceof Cluster ? subscription : '');
  const reads = createReads(redis);
  const advanceEach = gatherEach(async (_together, moves: readonly (readonly [...Place, Move])[]) => {
    const touched = moves.flatMap(([subscription, workspace]) => [
      keys.offsets(subscription),
      keys.entered(subscription, workspace),
      keys.backfills(subscription),
    ]);
    await advanceOffsets.run(
      redis,
      touched,
      moves.flatMap(([, workspace, { from, to, entered = '', task = '' }]) => [workspace, from, to, entered, task]),
    );
    return [];
  }, MOST_AT_ONCE);
  const get = async (workspace: string, subscription: string): Promise<string | null> => {
    const offset = await reads('hget', keys.offsets(subscription), workspace);
    return typeof offset === 'string' ? readOffset(offset, keys.offsets(subscription), workspace) : null;
  };
  return {
    get,
    /** Names that have an offset in the log, and that no dispatcher has had in its configuration for so long. */
    async unconfigured(workspace: string, sinceMs: number): Promise<string[]> {
      const marks = (await reads('hgetall', keys.readers(workspace))) as string[];
      const isOver = (mark = CONFIGURED): boolean => mark !== CONFIGURED && Number(mark) <= sinceMs;
      return marks.filter((_name, at) => at % 2 === 0 && isOver(marks[at + 1]));
    },
    /** Moves the offset to `to`, unless it is no longer `from`, or `entered` or `task` is forgotten: then the stored one is right. */
    async advance(workspace: string, subscription: string, move: Move): Promise<void> {
      await advanceEach(together(subscription), [subscription, workspace, move]);
    },
    async forget(workspace: string, subscription: string): Promise<void> {
      await redis.hdel(keys.offsets(subscription), workspace, unorderedField(workspace));
    },
    /** Whether the subscription has read without an order before. It does from now on, unless it `isOrdered`. */
    async wasUnordered(workspace: string, subscription: string, isOrdered: boolean): Promise<boolean> {
      const [hash, field] = [keys.offsets(subscription), unorderedField(workspace)];
      if (isOrdered) return (await redis.hexists(hash, field)) === 1;
      return (await redis.hset(hash, field, '1')) === 0;
    },
    /** Nothing that waits is without an order any more. */
    async setOrdered(workspace: string, subscription: string): Promise<void> {
      await redis.hdel(keys.offsets(subscription), unorderedField(workspace));
    },
    /**
     * The first offset of a new subscription; one already set stays.
     * @param task that was begun for it. @defaultValue none was
     * @returns the stored offset; null: there is none, as the task is forgotten
     */
    async begin(workspace: string, subscription: string, logId: string, task?: string): Promise<string | null> {
      // Before it has an offset, so that the log keeps what it reads from then on.
      await redis.hset(keys.readers(workspace), subscription, CONFIGURED);
      await advanceEach(together(subscription), [subscription, workspace, { from: '', to: logId, task }]);
      return await get(workspace, subscription);
    },
  };
}

/** `0` stands before every event. */
export function readOffset(text: string, hash: string, workspace: string): string {
  if (/^\d+(-\d+)?$/u.test(text)) return text;
  throw unreadable({ what: 'an offset in the log', key: hash, field: workspace }, describe(text));
}
