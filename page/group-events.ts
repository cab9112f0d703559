/**
 * One edit is one row: what it has caused is folded into it. An edit of a person comes with a row of the person's history, a
 * completed todo with an activity and with the counters of its person. Pure, and independent of the order of arrival.
 */
import type { EventView } from './api.js';

export interface Group {
  /** Stays the same when newer events join the group. */
  key: string;
  lead: EventView;
  /** The other events of the edit, newest first. */
  others: readonly EventView[];
}

/** Between an edit and what follows from it. The two are written by the CRM together, and read a few seconds apart. */
const MOMENT_MS = 20_000;
/** A row that names the changed field may be further away: some CRMs keep times to the minute. */
const SAME_FIELD_MS = 60_000;
/** Two events of one save, such as `updated` and `completed`. */
const SAME_SAVE_MS = 5_000;

/** A distance in ms; null where the event does not belong to the group that began with the other one. */
type Fit = (event: EventView, first: EventView) => number | null;

const LEADING = ['updated', 'created', 'reassigned', 'rescheduled', 'reopened', 'completed', 'deleted'];

/** @param events newest first, as the log has them */
export function groupEvents(events: readonly EventView[]): Group[] {
  const members = new Map<EventView, EventView[]>();
  const byRecord = new Map<string, EventView[]>();
  const place = (event: EventView, fit: Fit): void => {
    const keys = keysOf(event);
    const nearest = keys
      .flatMap((key) => byRecord.get(key) ?? [])
      .map((first) => ({ first, distance: fit(event, first) ?? Infinity }))
      .reduce<{ first: EventView | null; distance: number }>(
        (best, one) => (one.distance < best.distance ? one : best),
        {
          first: null,
          distance: Infinity,
        },
      );
    if (nearest.first !== null) return void members.get(nearest.first)?.push(event);
    members.set(event, [event]);
    for (const key of keys) byRecord.set(key, [...(byRecord.get(key) ?? []), event]);
  };
  const isRow = ({ row, object }: EventView): boolean => row !== null || object === 'person_activity';
  const edits = events.filter(({ edit }) => edit);
  const traces = events.filter(({ edit }) => !edit);
  for (const event of edits.filter((one) => !isRow(one))) place(event, isSameSave);
  for (const event of edits.filter(isRow)) place(event, fitOfRow);
  for (const event of traces.filter((one) => !isRow(one))) place(event, fitOfTrace);
  for (const event of traces.filter(isRow)) place(event, fitOfTrace);
  const order = new Map(events.map((event, index) => [event, index]));
  const indexOf = (event: EventView): number => order.get(event) ?? 0;
  return [...members.values()]
    .map((all) => groupOf(all.sort((a, b) => indexOf(a) - indexOf(b))))
    .sort((a, b) => indexOf(a.lead) - indexOf(b.lead));
}

function groupOf(all: readonly EventView[]): Group {
  const [newest] = all as [EventView];
  const lead = all.reduce((best, one) => (rankOf(one) > rankOf(best) ? one : best), newest);
  return { key: (all.at(-1) ?? lead).position, lead, others: all.filter((one) => one !== lead) };
}

const NAME = '이름';

/** The name of the record, where the events of the group say it. */
export function nameOf({ lead, others }: Group): string | null {
  if (lead.row === null) return lead.title;
  return [lead, ...others].find(({ row }) => row?.field === NAME)?.row?.value.text ?? lead.about;
}

/** Takes who made an edit from the row of the history that names the same field and value, where the event does not say. */
export function authorOf({ lead, others }: Group): EventView['actor'] {
  if (lead.actor !== null) return lead.actor;
  const shown = new Map(lead.changes.map(({ field, after }) => [field, after.text]));
  if (lead.verb === 'created') shown.set(NAME, lead.title);
  const rows = others.filter(({ row }) => row !== null && shown.get(row.field) === row.value.text);
  const [first] = rows;
  return first !== undefined && rows.every((row) => row.actor !== null && isByOne(row, first)) ? first.actor : null;
}

function rankOf({ edit, row, verb, object }: EventView): number {
  const kind = edit ? 200 : 0;
  return kind + (row !== null || object === 'person_activity' ? 0 : 100) + LEADING.indexOf(verb);
}

/** The feed's own events, and those about a whole list, belong to no record; what a clock has found is no one's edit. */
function keysOf({ records, workspace, detectedBy }: EventView): string[] {
  return detectedBy === 'clock' ? [] : records.map((record) => `${workspace} ${record}`);
}

function isSameSave(event: EventView, first: EventView): number | null {
  const distance = Math.abs(Date.parse(event.time) - Date.parse(first.time));
  return isAboutSame(event, first) && isByOne(event, first) && distance <= SAME_SAVE_MS ? distance : null;
}

function fitOfRow(event: EventView, first: EventView): number | null {
  if (!isAboutSame(event, first)) return null;
  const distance = distanceOf(event, first);
  // The event of the record says which field it was, so the row belongs there, however near another edit is.
  if (first.changes.some(({ field }) => field === event.row?.field))
    return distance <= SAME_FIELD_MS ? distance / 1_000 : null;
  return distance <= MOMENT_MS && (first.row !== null || isByOne(event, first)) ? distance : null;
}

function fitOfTrace(event: EventView, first: EventView): number | null {
  const distance = distanceOf(event, first);
  // Two consequences belong together when they are about the same record: neither follows from the other.
  return distance <= MOMENT_MS && (first.edit || isAboutSame(event, first)) ? distance : null;
}

function isAboutSame(event: EventView, first: EventView): boolean {
  return event.records[0] === first.records[0];
}

function isByOne({ actor }: EventView, { actor: other }: EventView): boolean {
  return actor === null || other === null || (actor.type === other.type && actor.name === other.name);
}

/** A time of the CRM may be missing or only to the minute, a time of observation depends on when each list is read: the nearer one counts. */
function distanceOf(event: EventView, first: EventView): number {
  const apart = (time: 'time' | 'observedAt'): number => Math.abs(Date.parse(event[time]) - Date.parse(first[time]));
  return Math.min(apart('time'), apart('observedAt'));
}
