/** A sorted set per list: `<what named it> <id>` by when it was named. */
import type { ListName } from '../../crm/lists/lists.js';
import type { WorkspaceRedis } from '../../redis/keys.js';

/** More would be fetched too late to be of use: the walk is faster then. */
const MOST_QUEUED = 1_000;
const LIFE_MS = 3_600_000;
/** Event types hold no space; ids may. */
const SEPARATOR = ' ';

export interface Aimed {
  id: string;
  by: string;
  /** When it was named, ms since the epoch. */
  atMs: number;
}

export type AimQueue = ReturnType<typeof createAimQueue>;

/** Ids that records and hints name, per list, most recent first. Shared by all processes of a workspace. */
export function createAimQueue({ redis, keys, workspace }: WorkspaceRedis) {
  return {
    /** Adds ids, or moves them to the front. @param named.by HINT (crm/hint.ts), or the type of an event */
    async add(list: ListName, ids: readonly string[], { by, atMs }: { by: string; atMs: number }): Promise<void> {
      const kept = ids.slice(-MOST_QUEUED);
      if (kept.length === 0) return;
      const key = keys.aimed(workspace, list);
      const queued = redis.multi().zadd(key, 'GT', ...kept.flatMap((id) => [atMs, `${by}${SEPARATOR}${id}`]));
      await queued
        .zremrangebyrank(key, 0, -MOST_QUEUED - 1)
        .pexpire(key, LIFE_MS)
        .exec();
    },
    /** Takes the most recent ids out of the queue. An id is there once for each that names it. */
    async take(list: ListName, count: number): Promise<Aimed[]> {
      const taken = await redis.zpopmax(keys.aimed(workspace, list), count);
      const named = taken.filter((_text, index) => index % 2 === 0);
      return named.map((text, index) => ({ ...namedIn(text), atMs: Number(taken[2 * index + 1]) }));
    },
  };
}

function namedIn(text: string): { by: string; id: string } {
  const at = text.indexOf(SEPARATOR);
  return { by: text.slice(0, at), id: text.slice(at + 1) };
}
