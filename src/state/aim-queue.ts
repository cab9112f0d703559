/** The queue of named records: a sorted set per list of what named a record and its id, by the time at which it was named. */
import type { AimQueue } from '../sweep/shortcuts/store.js';
import type { WorkspaceRedis } from './keys.js';

/** More would be fetched too late to be of use: the walk is faster then. */
const MOST_QUEUED = 1_000;
const LIFE_MS = 3_600_000;
/** Event types hold no space; ids may. */
const SEPARATOR = ' ';

export function createAimQueue({ redis, keys, workspace }: WorkspaceRedis): AimQueue {
  return {
    async add(list, ids, { by, atMs }) {
      // The last ones are kept where there are too many.
      const kept = ids.slice(-MOST_QUEUED);
      if (kept.length === 0) return;
      const key = keys.aimed(workspace, list);
      const queued = redis.multi().zadd(key, 'GT', ...kept.flatMap((id) => [atMs, `${by}${SEPARATOR}${id}`]));
      await queued
        .zremrangebyrank(key, 0, -MOST_QUEUED - 1)
        .pexpire(key, LIFE_MS)
        .exec();
    },
    async take(list, count) {
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
