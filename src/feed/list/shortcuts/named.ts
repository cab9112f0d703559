/** Committed events name records that changed too (a memo its person). A queue of hints: a crash loses only time. */
import { referencesIn, type Reference } from '../../../crm/references.js';
import type { ListName, Lists } from '../../../crm/lists/lists.js';
import { messageOf } from '../../../kit/errors.js';
import type { ChangeEvent } from '../../../events/types.js';
import type { Clock } from '../../../kit/clock.js';
import type { Log } from '../../../kit/log.js';
import type { AimQueue } from '../aim-queue.js';

export interface NamedOptions {
  workspace: string;
  queue: AimQueue;
  lists: Lists;
  clock: Clock;
  log: Log;
}

export interface Named {
  list: ListName;
  /** What named them (`reasonOf`). */
  by: string;
  /** When the change happened that the event reports, ms since the epoch. */
  atMs: number;
  ids: readonly string[];
}

/** The records that events name, except the records that the events are about. */
export function namedIn(events: readonly ChangeEvent[], lists: Lists): Named[] {
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
