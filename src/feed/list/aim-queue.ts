/**
 * Records that may have changed because an event or a hint names them, as the shortcuts of all processes take them: a sorted set per
 * list, by when each was named.
 */
import type { ListName, Lists } from '../../crm/lists/lists.js';
import type { WorkspaceRedis } from '../../redis/keys.js';
import { referencesIn, type Reference } from '../../crm/references.js';
import { messageOf } from '../../kit/errors.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';

/** More would be fetched too late to be of use: the walk is faster then. */
const MOST_QUEUED = 1_000;
const LIFE_MS = 3_600_000;
/** In front of the id stands a word: the release before writes and reads what named the record. */
const NAMED = 'named ';

export interface Aimed {
  id: string;
  /** When it was named, ms since the epoch. */
  atMs: number;
}

export type AimQueue = ReturnType<typeof createAimQueue>;

/** Ids that records and hints name, per list, most recent first. Shared by all processes of a workspace. */
export function createAimQueue({ redis, keys, workspace }: WorkspaceRedis) {
  return {
    /** Adds ids, or moves them to the front. @param atMs when they were named, ms since the epoch */
    async add(list: ListName, ids: readonly string[], atMs: number): Promise<void> {
      const kept = ids.slice(-MOST_QUEUED);
      if (kept.length === 0) return;
      const key = keys.aimed(workspace, list);
      const queued = redis.multi().zadd(key, 'GT', ...kept.flatMap((id) => [atMs, `${NAMED}${id}`]));
      await queued
        .zremrangebyrank(key, 0, -MOST_QUEUED - 1)
        .pexpire(key, LIFE_MS)
        .exec();
    },
    /** Takes the most recent ids out of the queue. */
    async take(list: ListName, count: number): Promise<Aimed[]> {
      const taken = await redis.zpopmax(keys.aimed(workspace, list), count);
      const named = taken.filter((_text, index) => index % 2 === 0);
      return named.map((text, index) => ({
        id: text.slice(text.indexOf(' ') + 1),
        atMs: Number(taken[2 * index + 1]),
      }));
    },
  };
}

export interface NamedOptions {
  workspace: string;
  queue: AimQueue;
  lists: Lists;
  clock: Clock;
  log: Log;
}

/** The records that events name, except the records that the events are about. */
function namedIn(events: readonly ChangeEvent[], lists: Lists) {
  return events.flatMap((event) => {
    const ids = new Map<ListName, Set<string>>();
    for (const { list, id } of referencesOf(event, lists)) ids.set(list, (ids.get(list) ?? new Set()).add(id));
    return [...ids].map(([list, all]) => ({ list, ids: [...all], atMs: Date.parse(event.time) }));
  });
}

/**
 * A new row shows that something has happened to the records that it names, and so does an edit of a record that is open or was: a todo
 * that is done. Another edit, as of a phone number, mostly changes no other record.
 */
function isTelling(type: string, lists: Lists): boolean {
  const [, object = '', verb] = type.split('.');
  return verb === 'created' || (verb === 'updated' && lists.byObject(object)?.open !== undefined);
}

function referencesOf({ type, subject, data }: ChangeEvent, lists: Lists): Reference[] {
  if (!isTelling(type, lists)) return [];
  // A link that was removed has changed the record at its other end.
  const records = [data.after, data.before].filter((record) => record !== null);
  return records.flatMap((record) => referencesIn(record, lists)).filter(({ id }) => id !== subject);
}

/** A queue of hints: a crash loses only time. */
export async function queueNamed(
  events: readonly ChangeEvent[],
  { workspace, queue, lists, clock, log }: NamedOptions,
): Promise<void> {
  try {
    for (const { list, ids, atMs } of namedIn(events, lists)) await queue.add(list, ids, Math.min(atMs, clock.now()));
  } catch (error) {
    log.debug({ workspace, error: messageOf(error) }, 'named records not queued: the next sweep reads them');
  }
}
