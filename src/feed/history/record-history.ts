/** The changes of one record, newest first. What was after a change is what was before the next one. */
import type { CrmRecord, UncheckedRecord } from '../../crm/record.js';
import { isStampField } from '../detect/fields.js';
import type { Rules } from '../detect/rules.js';
import { withId } from '../detect/build-event.js';
import { undone } from '../detect/undo.js';
import { titleOfRecord } from '../../events/describe.js';
import { compareLogIds } from '../../events/log-id.js';
import type { Actor, ChangeClass, FieldChange } from '../../events/types.js';
import { isoTime } from '../../kit/clock.js';
import type { PlacedPast } from '../store/history.js';
import type { SweepStore } from '../store/sweep-store.js';
import { notKnown } from './as-of.js';

/** One change of a record. */
export interface HistoryChange {
  /** The id of its event. Null: what changed was stored without one, as after `resync`, and where a list has got another schema. */
  event: string | null;
  /** The type of the event, such as `crm.person.updated`; null where there is none. */
  type: string | null;
  /** The record's sequence after it. */
  sequence: number;
  /** ISO 8601: when it was observed. */
  observedAt: string;
  /** ISO 8601: the record's own time of the change, where it has one. */
  time: string;
  /** `edited` by a person or an integration, or `refreshed` by the system. */
  class: ChangeClass;
  /** Who made it; null: not known. */
  actor: Actor | null;
  /** The fields that changed, from what to what. Empty where the record entered or left the list. */
  changes: FieldChange[];
  /** The record had been deleted. */
  reappeared?: true;
  /** With `deleted`: the record that it was merged into. */
  mergedInto?: string;
}

/** The changes of one record, newest first. */
export interface RecordHistory {
  list: string;
  id: string;
  /** What it is or was last called; null where it says nothing. */
  title: string | null;
  /** ISO 8601: since when every change is kept; null: none is. */
  since: string | null;
  /** The record as it is, or was at the time that was asked for; null: it is not in the list. */
  record: CrmRecord | null;
  /** The newest first. */
  changes: HistoryChange[];
  /** Where older changes go on; null: there are none. */
  next: string | null;
}

interface HistoryCall {
  id: string;
  rules: Rules;
  limit: number;
  /** `next` of a part before. @defaultValue the newest changes */
  from?: string | undefined;
  /** Ms since the epoch: later changes are undone and left out. @defaultValue none is */
  atMs?: number | undefined;
}

/** @throws ChangefeedError CF_USAGE where the history does not reach back to `atMs` */
export async function recordHistory(store: SweepStore, call: HistoryCall): Promise<RecordHistory> {
  const { id, rules, limit, from, atMs = Infinity } = call;
  const list = rules.list.name;
  const { since, record: found } = await store.pastOf(list, id);
  if (atMs !== Infinity && (since === null || since > atMs)) throw notKnown(list, since);
  const of = {
    list,
    id,
    title: titleIn(found.record),
    since: since === null ? null : isoTime(since),
    record: found.record as CrmRecord | null,
  };
  const changes: HistoryChange[] = [];
  let after = found.record;
  for await (const past of found.pasts) {
    const before = undone(after, past.undo);
    if (Date.parse(past.at) > atMs) {
      after = before;
      of.record = before === null ? null : withId(before, id);
      of.title = titleIn(before) ?? of.title;
      continue;
    }
    const isWanted = from === undefined || compareLogIds(past.place, from) <= 0;
    if (isWanted && changes.length === limit) return { ...of, changes, next: past.place };
    of.title ??= titleIn(before);
    if (isWanted) changes.push(changeOf(past, { before, after, rules }));
    after = before;
  }
  return { ...of, changes, next: null };
}

function titleIn(record: UncheckedRecord | null): string | null {
  return record === null ? null : titleOfRecord(record);
}

interface Sides {
  before: UncheckedRecord | null;
  after: UncheckedRecord | null;
  rules: Rules;
}

export function changeOf({ event, sequence, at, undo }: PlacedPast, { before, after, rules }: Sides): HistoryChange {
  const { id = null, verb, time = at, class: kind = 'edited', actor = null, actors = {}, ...more } = event ?? {};
  const names = undo.was === 'other' ? Object.keys(undo.fields) : [];
  const changed = names.filter((name) => !isStampField(name, rules.list));
  return {
    ...{ event: id, type: verb === undefined ? null : `crm.${rules.list.object}.${verb}`, sequence },
    ...{ observedAt: at, time, class: kind, actor },
    changes: changed.map((field) => {
      const own = Object.hasOwn(actors, field) ? actors[field] : undefined;
      const sides = { field, before: before?.[field] ?? null, after: after?.[field] ?? null };
      return own === undefined ? sides : { ...sides, actor: own };
    }),
    ...more,
  };
}
