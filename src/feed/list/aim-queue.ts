/**
 * Records that may have changed because an event or a hint names them, as the shortcuts of all processes take them: a sorted set per
 * list, `<what named it> <id>` by when it was named.
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
      return named.map((text, index) => ({ ...aimedIn(text), atMs: Number(taken[2 * index + 1]) }));
    },
  };
}

function aimedIn(text: string): { by: string; id: string } {
  const at = text.indexOf(SEPARATOR);
  return { by: text.slice(0, at), id: text.slice(at + 1) };
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
    const named = { by: reasonOf(event), atMs: Date.parse(event.time) };
    return [...ids].map(([list, all]) => ({ ...named, list, ids: [...all] }));
  });
}

const LONGEST_REASON = 100;

/** One reason, alike in whether named records changed: a memo changes the person, an opened mail does not. */
function reasonOf({ type, data: { before, after, changes } }: ChangeEvent): string {
  const kind = after?.['type'];
  const facts = before === null ? (typeof kind === 'string' ? [kind] : []) : changes.map(({ field }) => field);
  return [type, ...facts].join(',').replaceAll(/\s/gu, '_').slice(0, LONGEST_REASON);
}

const VERBS = new Set(['created', 'updated', 'deleted']);

function referencesOf({ type, subject, data }: ChangeEvent, lists: Lists): Reference[] {
  if (!VERBS.has(type.split('.')[2] ?? '')) return [];
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
    for (const { list, by, ids, atMs } of namedIn(events, lists))
      await queue.add(list, ids, { by, atMs: Math.min(atMs, clock.now()) });
  } catch (error) {
    log.debug({ workspace, error: messageOf(error) }, 'named records not queued: the next sweep reads them');
  }
}
