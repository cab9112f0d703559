/**
 * Who made a change, from the rows of a history. Pure. Rows may be missing, late or wrong, so for each changed field
 * - its latest row must have the value that the record shows now, equal in meaning, and no other row since the last
 *   event may say that someone else set it;
 * - it must be later than the last request that showed the old value, and no earlier event may have used it;
 * - the record's own time of change must not be later than the newest row.
 */
import { z } from 'zod';
import { isRelabelled, meaningInHistory } from '../../crm/canonical.js';
import type { HistoryRole, ListDescriptor } from '../../crm/lists/descriptor.js';
import type { Lists } from '../../crm/lists/lists.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { isSameActor } from '../../events/actor.js';
import type { Actor, ChangeEvent, FieldChange } from '../../events/types.js';
import { span } from './left-alone.js';
import { shortDigest } from '../../crm/canonical.js';
import { creationTimeOf, modifiedAtOf } from './fields.js';
import type { Decision } from './stored-record.js';

const actorSchema = z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() });

export const creditSchema = z.object({
  row: z.string(),
  /** Digest of the name of the changed field; null for a change of something else, such as a link. */
  field: z.string().nullable(),
  /** Digest of its value after the change; null for no value. */
  value: z.string().nullable(),
  /** ISO 8601: when it was changed. */
  at: z.string(),
  /** The actor, or null where the row does not name one. The row still says that earlier rows of the field are out of date. */
  actor: actorSchema.nullable(),
});
export type Credit = z.infer<typeof creditSchema>;

export interface CreditedRecord {
  list: ListDescriptor;
  id: string;
  credit: Credit;
}

const LONGEST_TYPE = 40;
const LONGEST_NAME = 100;
/** Servers write a row and the record's own time of change one after the other. */
const APART_MS = 5_000;
/** `Date` of an answer has whole seconds, and the answer takes a while. */
const MEASURED_MS = 2_000;
/** The field that everyone who creates a record fills in. */
const NAME = '이름';

/** Reads the credits of a row. None, if it is not about a record of `lists`. */
export function creditsOf(row: UncheckedRecord, list: ListDescriptor, lists: Lists): CreditedRecord[] {
  const { history } = list;
  const at = creationTimeOf(row, list);
  if (history === undefined || at === null) return [];
  const key = shortDigest(typeof row['id'] === 'string' ? row['id'] : JSON.stringify(row));
  const said = { row: key, at, actor: actorIn(row, history) };
  const changed = row[history.changed];
  return history.of.flatMap(({ object, field: reference }) => {
    const [about, id] = [lists.byObject(object), row[reference]];
    if (about === undefined || typeof id !== 'string' || id === '') return [];
    const [field, value] =
      typeof changed === 'string' ? [fieldDigest(about, changed), valueDigest(row[history.value])] : [null, null];
    return [{ list: about, id, credit: { ...said, field, value } }];
  });
}

/** Reads the actor of a row; null where it does not name one. */
export function actorIn(row: UncheckedRecord, history: HistoryRole): Actor | null {
  const { data } = actorSchema.partial({ id: true, name: true }).safeParse(row[history.actor]);
  if (data === undefined || data.type === '') return null;
  const { type, id = null, name = null } = data;
  return { type: type.slice(0, LONGEST_TYPE), id, name: name?.slice(0, LONGEST_NAME) ?? null };
}

export interface WhoFacts {
  list: ListDescriptor;
  /** The credits that rows give about the record, in any order. */
  credits: readonly Credit[];
  /** The record's decisions, that of the event included. */
  decisions: readonly Decision[];
  /** ISO 8601: start of the last complete sweep, which showed the old values; null before the first. */
  sweptAt: string | null;
  /** The clock of the API less ours, ms; null where it is not known: no row says for certain who made a change. */
  apartMs: number | null;
}

export interface Who {
  /** The event and those derived from it, with the actors that are known. */
  events: ChangeEvent[];
  rows: string[];
}

/** @param event `created` or `updated`, with the events derived from it */
export function whoMade(event: ChangeEvent, derived: readonly ChangeEvent[], facts: WhoFacts): Who {
  if (event.type.endsWith('.created')) {
    const rows = rowsOfCreation(event, facts);
    const actor = rows[0]?.actor ?? null;
    const events = actor === null ? [event, ...derived] : [event, ...derived].map((one) => madeBy(one, actor));
    return { events, rows: rows.map(({ row }) => row) };
  }
  const credits = new Map<string, Credit>();
  for (const change of event.data.changes) {
    const credit = isRelabelled(change) ? null : creditFor(change, event, facts);
    if (credit !== null) credits.set(change.field, credit);
  }
  const events = [event, ...derived].map((one) => withActors(one, (field) => credits.get(field)?.actor ?? undefined));
  return { events, rows: [...credits.values()].map(({ row }) => row) };
}

function madeBy(event: ChangeEvent, actor: Actor): ChangeEvent {
  return { ...event, data: { ...event.data, actor } };
}

function withActors(event: ChangeEvent, actorOf: (field: string) => Actor | undefined): ChangeEvent {
  const { changes } = event.data;
  const [first, ...others] = changes.map(({ field }) => actorOf(field));
  if (first !== undefined && others.every((other) => isSameActor(first, other))) return madeBy(event, first);
  const named = changes.map((change) => {
    const actor = actorOf(change.field);
    return actor === undefined ? change : { ...change, actor };
  });
  return { ...event, data: { ...event.data, changes: named } };
}

/** The row that accounts for one changed field; null where none does for certain. */
function creditFor({ field, after: value }: FieldChange, event: ChangeEvent, facts: WhoFacts): Credit | null {
  const { list, credits, decisions, sweptAt, apartMs } = facts;
  const { before, after, class: kind } = event.data;
  if (before === null || after === null || apartMs === null) return null;
  const [stored, shown] = [modifiedAtOf(before, list), modifiedAtOf(after, list)];
  if (kind === 'edited' && isChangedSince(shown, credits)) return null;
  const used = new Set(decisions.flatMap(({ rows = [] }) => rows));
  const shownMs = Math.max(lastEventMs(decisions) || 0, Date.parse(sweptAt ?? '') || 0);
  const knownMs = Math.max(span(stored).from || 0, shownMs + apartMs - MEASURED_MS);
  const now = valueDigest(value);
  const isNew = ({ at }: Credit): boolean => span(at).to >= knownMs;
  const isMeant = (credit: Credit): boolean =>
    credit.value === now &&
    isNew(credit) &&
    !used.has(credit.row) &&
    // The record's own time of change moved, but not as far as the row: the row is about something else.
    (stored === shown || !(span(credit.at).from > span(shown).to + APART_MS));
  const ofField = credits.filter((credit) => credit.field === fieldDigest(list, field));
  const latestMs = Math.max(...ofField.map(timeOf));
  const latest = ofField.filter((credit) => timeOf(credit) === latestMs);
  const [newest] = latest;
  if (newest?.actor == null || !latest.every(isMeant)) return null;
  const setters = ofField.filter((credit) => isNew(credit) && credit.value === now);
  return setters.every((setter) => setter === newest || isSameActor(setter.actor, newest.actor)) ? newest : null;
}

const timeOf = ({ at }: Credit): number => Date.parse(at);

/** When the last event before this one was observed; NaN when there was none. */
function lastEventMs(decisions: readonly Decision[]): number {
  const earlier = decisions.slice(0, -1).findLast(({ event }) => event !== undefined);
  return Date.parse(earlier?.at ?? '');
}

/** There was a change later than every row. */
function isChangedSince(modifiedAt: string | null, credits: readonly Credit[]): boolean {
  return span(modifiedAt).from > Math.max(...credits.map(({ at }) => span(at).to)) + APART_MS;
}

/** A new record is by the one who gave it its name when it was created, if all rows about it say the same. */
function rowsOfCreation({ data: { after, reappeared } }: ChangeEvent, { list, credits }: WhoFacts): readonly Credit[] {
  const createdAt = after && creationTimeOf(after, list);
  if (after === null || createdAt === null || reappeared !== undefined) return [];
  const created = span(createdAt);
  const names = credits.filter(({ field }) => field === fieldDigest(list, NAME));
  const isAtCreation = ({ at }: Credit): boolean =>
    span(at).to >= created.from - APART_MS && span(at).from <= created.to + APART_MS;
  const isCertain =
    names.length > 0 &&
    names.every((name) => isAtCreation(name) && name.value === valueDigest(after[NAME])) &&
    credits.every((one) => one.actor !== null && (one === names[0] || isSameActor(one.actor, names[0]?.actor)));
  return isCertain && !isChangedSince(modifiedAtOf(after, list), credits) ? credits : [];
}

function fieldDigest({ spellings }: ListDescriptor, field: string): string {
  const name = field.normalize('NFC');
  return shortDigest((Object.hasOwn(spellings, name) ? spellings[name] : undefined) ?? name);
}

function valueDigest(value: unknown): string | null {
  const meaning = meaningInHistory(value);
  return meaning === null ? null : shortDigest(meaning);
}
