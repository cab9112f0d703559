/**
 * How a deletion is decided, all of it; `list/removals.ts` reads and commits what it needs.
 *
 * 1. Only complete sweeps count: every page was read up to the end of the list. An id that was on some page of the last
 *    complete sweep and is on none now is missing (`vanished`). Ids that only an abandoned sweep has seen (unconfirmed
 *    ids) take part as one more page of the last complete sweep.
 * 2. Rows without an id (known by their content) are never missing: a changed row gets another key and looks removed.
 * 3. A record missing in `confirm` complete sweeps in a row, whose pages were read at least `afterMs` apart, is confirmed
 *    (`missingAfter`). A sweep that was stopped while it was finished decides nothing: the list is read again.
 * 4. When more than `maxCount` records and more than `maxShare` of the list are missing, none is deleted: a broken
 *    answer is likelier. They are held until a person accepts them (`decideRemovals`). While new records of the list
 *    are held, any number of missing records is held. A row whose id cannot be read may be any of the records that are
 *    missing since it is shown: they are held as well (`unnamed`).
 * 5. A record first seen less than ten seconds ago is not deleted yet: a replica may not know it (`isNewcomer`).
 * 6. Held removals that a person discards are not reported. The records are no longer in the list (`discardedRecord`).
 * 7. A deleted record keeps its sequence and time of change (`deletedRecord`), to be recognised when it reappears.
 */
import { z } from 'zod';
import type { ChangeEvent } from '../../events/types.js';
import { buildEvent } from '../../events/envelope.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { isYounger, knownMs } from '../../kit/stored-time.js';
import { withId, type Observation } from './build-event.js';
import type { Rules } from './rules.js';
import { appearedAt, storedModifiedAt, withDecision, type StoredRecord } from './stored-record.js';

export interface RemovalRules {
  /** Complete sweeps in a row that must not show a record. @defaultValue 2 */
  confirm: number;
  /** The least time from the last page of the first of them to that of the last. @defaultValue 30 s */
  afterMs: number;
  /** Held when more than this share of the list is missing … @defaultValue 0.2 */
  maxShare: number;
  /** … and more than this many records. @defaultValue 10 */
  maxCount: number;
}

/** One sweep may read a lagging replica. Swept every second, an empty restarting server would confirm itself. */
export const DEFAULT_REMOVALS: RemovalRules = { confirm: 2, afterMs: 30_000, maxShare: 0.2, maxCount: 10 };

/** The limits for a list whose new records are held. */
export const HOLD_EVERY_REMOVAL = { maxShare: 0, maxCount: 0 };

export const missingSchema = z.object({
  /** Complete sweeps in a row that did not show the record. */
  sweeps: z.number(),
  /** ISO 8601: when the first of them was decided, and so whether an acceptance covers it. */
  since: z.iso.datetime(),
  /** ISO 8601: when that sweep had read its last page. */
  readAt: z.iso.datetime(),
  /** The last of them, so that a sweep that is resumed counts once. */
  sweep: z.string(),
  /** Rows without an id that could be read in the sweep that showed it last: it is none of them. Absent: 0. */
  unnamed: z.number().exactOptional(),
});
export type Missing = z.infer<typeof missingSchema>;

/** In place of a page number, from 1: ids seen only by abandoned sweeps, whose removal must be noticed too. */
export const UNCONFIRMED = 0;

/** Which records stood on each page in the last complete sweep, and which stand there now where that differs. */
export interface MembershipChange {
  before: ReadonlyMap<number, readonly string[]>;
  /** Only pages with other members. A page up to `pages` that is not here has its old members. */
  changed: ReadonlyMap<number, readonly string[]>;
  pages: number;
}

/** On some page before and on none now. A record that moved to another page has not vanished. */
export function vanished({ before, changed, pages }: MembershipChange): string[] {
  const isAsBefore = (page: number): boolean => page !== UNCONFIRMED && page <= pages && !changed.has(page);
  const present = new Set<string>();
  for (const [, keys] of changed) for (const key of keys) present.add(key);
  for (const [page, keys] of before) {
    if (isAsBefore(page)) for (const key of keys) present.add(key);
  }
  const vanished = new Set<string>();
  for (const [page, keys] of before) {
    if (!isAsBefore(page)) for (const key of keys) if (!present.has(key)) vanished.add(key);
  }
  return [...vanished];
}

/** An entry of neither this nor the last complete sweep is from an abandoned one; this sweep counts in its place. */
export function missingAfter(
  before: ReadonlyMap<string, Missing>,
  {
    left,
    returned,
    sweep,
    lastSweep,
    unnamed,
    at,
    readAt,
  }: {
    left: readonly string[];
    returned: ReadonlySet<string>;
    sweep: string;
    lastSweep: string | null;
    /** Rows without an id that could be read, in the last complete sweep. */
    unnamed: number;
    at: string;
    readAt: string;
  },
): Map<string, Missing> {
  const after = new Map<string, Missing>();
  for (const [key, entry] of before) {
    if (returned.has(key)) continue;
    // A time in the future is none: the wait begins now, and would never end if this were not kept.
    const firstMs = knownMs(entry.readAt, Date.parse(readAt));
    const first = firstMs === null ? readAt : new Date(firstMs).toISOString();
    after.set(key, { ...entry, sweeps: entry.sweeps + (entry.sweep === lastSweep ? 1 : 0), readAt: first, sweep });
  }
  const first = { sweeps: 1, since: at, readAt, sweep, ...(unnamed > 0 && { unnamed }) };
  for (const key of left) if (!after.has(key)) after.set(key, first);
  return after;
}

export type RemovalDecision = {
  deleted: string[];
  held: { why: 'too many' | 'unreadable'; count: number; of: number } | null;
};

export function decideRemovals(
  missing: ReadonlyMap<string, Missing>,
  {
    present,
    unnamed,
    rules,
    acceptedAt,
    readAt,
  }: { present: number; unnamed: number; rules: RemovalRules; acceptedAt: string | null; readAt: string },
): RemovalDecision {
  const isAccepted = ({ since }: Missing): boolean => acceptedAt !== null && since <= acceptedAt;
  const isLong = (entry: Missing): boolean => Date.parse(readAt) - Date.parse(entry.readAt) >= rules.afterMs;
  const confirmed = [...missing].filter(([, entry]) => entry.sweeps >= rules.confirm && isLong(entry));
  const open = [...missing.values()].filter((entry) => !isAccepted(entry));
  const of = present + missing.size;
  if (open.length > rules.maxCount && open.length > rules.maxShare * of)
    return {
      deleted: confirmed.filter(([, entry]) => isAccepted(entry)).map(([key]) => key),
      held: { why: 'too many', count: open.length, of },
    };
  const mayBeShown = (entry: Missing): boolean => !isAccepted(entry) && unnamed > (entry.unnamed ?? 0);
  const count = open.filter(mayBeShown).length;
  return {
    deleted: confirmed.filter(([, entry]) => !mayBeShown(entry)).map(([key]) => key),
    held: count === 0 ? null : { why: 'unreadable', count, of },
  };
}

/** Longer than replicas usually lag. */
const NEWCOMER_MS = 10_000;

/** A lagging replica may not know a record that we have just seen, so the record's absence proves nothing yet. */
export function isNewcomer(stored: StoredRecord | null, now: string): boolean {
  return stored !== null && isYounger(appearedAt(stored), Date.parse(now), NEWCOMER_MS);
}

export function deletedRecord(
  stored: StoredRecord,
  { sequence, ...at }: { at: string; sweep: string; event: string; sequence: number },
  rules: Rules,
): StoredRecord {
  return {
    sequence,
    record: null,
    gone: { at: at.at, modifiedAt: storedModifiedAt(stored, rules.list) },
    decisions: withDecision(stored.decisions, { ...at, what: 'deleted' }),
  };
}

/** A person keeps the removal from the receivers: the record is no longer in the list, and what they have of it stays. */
export function discardedRecord(
  stored: StoredRecord,
  { at, sweep, snapshots }: { at: string; sweep: string; snapshots: number },
): StoredRecord {
  const decisions = withDecision(stored.decisions, { at, sweep, what: 'discarded' });
  return { ...stored, discarded: at, ...(snapshots > 0 && { discardedAfter: snapshots }), decisions };
}

/** A record of another source of the list, dropped without an event. Only its sequence stays. */
export function droppedRecord({ sequence }: StoredRecord, at: string): StoredRecord {
  return { sequence, record: null, gone: { at, modifiedAt: null, dropped: true } };
}

export interface Removal {
  key: string;
  record: UncheckedRecord | null;
  sequence: number;
  mergedInto?: string | undefined;
}

export function removalEvent(
  { key, record, sequence, mergedInto }: Removal,
  { rules, observation }: { rules: Rules; observation: Observation },
): ChangeEvent {
  return buildEvent({
    workspace: observation.workspace,
    list: rules.list,
    verb: 'deleted',
    recordId: key,
    time: observation.observedAt,
    contentDigest: 'deleted',
    data: {
      before: record === null ? null : withId(record, key),
      after: null,
      changes: [],
      sequence,
      class: 'edited',
      detectedBy: 'content',
      observedAt: observation.observedAt,
      sweep: observation.sweep,
      ...(mergedInto === undefined ? {} : { mergedInto }),
    },
  });
}

/** Vanished record → the other ids that activities of type `merge` name together with it. */
export function mergeMentions(
  events: Iterable<ChangeEvent>,
  vanishedKeys: ReadonlySet<string>,
): Map<string, ReadonlySet<string>> {
  const mentions = new Map<string, Set<string>>();
  for (const { type, subject, data } of events) {
    if (!type.startsWith('crm.person_activity.') || data.after?.['type'] !== 'merge') continue;
    const named = new Set(textsIn(data.after));
    named.delete(subject);
    for (const id of named) {
      if (!vanishedKeys.has(id)) continue;
      const others = mentions.get(id) ?? new Set<string>();
      for (const other of named) if (other !== id) others.add(other);
      mentions.set(id, others);
    }
  }
  return mentions;
}

/** The one mentioned record that is still in the list; undefined when there are none or several. */
export function survivorOf(mentioned: ReadonlySet<string>, isInList: (id: string) => boolean): string | undefined {
  const [survivor, ...others] = [...mentioned].filter(isInList);
  return others.length === 0 ? survivor : undefined;
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else for (const inner of Object.values(value ?? {})) yield* textsIn(inner);
}
