/**
 * Schema drift: a key that appears, vanishes or changes form on nearly all rows of a sweep is one change of the schema,
 * not one change per record. Rows are judged one by one, so the decision needs the end of the sweep: until then, records
 * that moved in an unusual way wait. Nothing is decided early in favour of drift: a person who fills a field on half of
 * the rows must be heard.
 */
import type { SchemaChange } from '../events/types.js';
import { ABSENT } from './form.js';
import { formsOfField, type SchemaTally } from './schema.js';

/** "Nearly all". */
const NEARLY_ALL = 0.9;
/** "Next to none": not 1 - 0.9, which is a little less than a tenth. */
const NEXT_TO_NONE = 0.1;
/** With fewer rows than this, "nearly all of them" says nothing: each is reported by itself. */
const FEWEST_ROWS = 10;
const SAMPLES = 3;

/** One field of one row that took another form. */
export interface Transition {
  field: string;
  from: string;
  to: string;
}

/** What a sweep has seen of possible drift; plain data, persisted with the checkpoint. */
export interface DriftTally {
  /** Rows seen that were known before. */
  rows: number;
  fields: Readonly<Record<string, DriftField>>;
  /** Fields that waited for a second sweep already: this one decides. */
  carried: readonly string[];
  /** The fields turned out to be ordinary: nothing waits any more in this sweep. */
  released: boolean;
}

export interface DriftField {
  /** Rows that moved. */
  moved: number;
  /** Known rows seen before the first of them. */
  after: number;
  from: Readonly<Record<string, number>>;
  to: Readonly<Record<string, number>>;
  /** Rows per form when the first of them was seen. */
  forms: Readonly<Record<string, number>>;
}

/** A field that drifted lately, and from which forms: rows that were not shown then move along in silence. */
export interface PastDrift {
  field: string;
  from: readonly string[];
  /** Complete sweeps in which it still counts. */
  sweeps: number;
}

/** Longer, and a person who fills the field of a new record would not be heard. */
const SWEEPS_TO_FOLLOW = 3;

/** What of the past still counts after one more complete sweep, with what drifted in it. */
export function pastAfter(past: readonly PastDrift[], drifted: readonly Omit<PastDrift, 'sweeps'>[]): PastDrift[] {
  const fields = new Set(drifted.map(({ field }) => field));
  const older = past.filter(({ field, sweeps }) => sweeps > 1 && !fields.has(field));
  return [
    ...older.map((one) => ({ ...one, sweeps: one.sweeps - 1 })),
    ...drifted.map((one) => ({ ...one, sweeps: SWEEPS_TO_FOLLOW })),
  ];
}

export function noDrift(carried: readonly string[] = []): DriftTally {
  return { rows: 0, fields: {}, carried, released: false };
}

export function transitions(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Transition[] {
  const moved: Transition[] = [];
  for (const field of new Set([...before.keys(), ...after.keys()])) {
    const from = before.get(field) ?? ABSENT;
    const to = after.get(field) ?? ABSENT;
    if (from !== to) moved.push({ field, from, to });
  }
  return moved;
}

/** A step into a form that next to no row has, from one that is at home in this field. Anything else is everyday life. */
export function isUnusual({ field, from, to }: Transition, schema: SchemaTally, drift: DriftTally): boolean {
  if (schema.rows < FEWEST_ROWS) return false;
  if (Object.hasOwn(drift.fields, field)) return true;
  const forms = formsOfField(schema, field);
  return (forms[to] ?? 0) <= NEXT_TO_NONE * schema.rows && (forms[from] ?? 0) >= FEWEST_ROWS;
}

export function tallied(drift: DriftTally, moved: readonly Transition[], schema: SchemaTally): DriftTally {
  const rows = drift.rows + 1;
  if (moved.length === 0) return { ...drift, rows };
  // A field may be called "constructor" or "__proto__".
  const fields = new Map(Object.entries(drift.fields));
  for (const { field, from, to } of moved) {
    const first = { moved: 0, after: drift.rows, from: {}, to: {}, forms: formsOfField(schema, field) };
    const known = fields.get(field) ?? first;
    fields.set(field, { ...known, moved: known.moved + 1, from: more(known.from, from), to: more(known.to, to) });
  }
  return { ...drift, rows, fields: Object.fromEntries(fields) };
}

function more(counts: Readonly<Record<string, number>>, form: string): Record<string, number> {
  return { ...counts, [form]: (counts[form] ?? 0) + 1 };
}

export interface DriftDecision {
  /** One event each. */
  drifted: SchemaChange[];
  /** Everything from some row on moved: perhaps the schema changed in mid-sweep. The next sweep decides. */
  undecided: string[];
}

/** At the end of a complete sweep. */
export function decideDrift(drift: DriftTally): DriftDecision {
  const decision: DriftDecision = { drifted: [], undecided: [] };
  for (const [field, seen] of Object.entries(drift.fields)) {
    if (seen.moved < FEWEST_ROWS) continue;
    const couldMove = rowsIn(seen.forms, Object.keys(seen.from));
    const share = Math.min(1, seen.moved / Math.max(couldMove, seen.moved));
    if (share >= NEARLY_ALL) decision.drifted.push(schemaChange(field, seen, share));
    else if (!drift.carried.includes(field) && movedFromThereOn(seen, drift.rows, couldMove)) {
      decision.undecided.push(field);
    }
  }
  return decision;
}

/** Of the rows after the first that moved, nearly all of those that could did. */
function movedFromThereOn(seen: DriftField, rows: number, couldMove: number): boolean {
  const sinceThen = (rows - seen.after) * shareOf(seen, couldMove);
  return seen.moved >= NEARLY_ALL * sinceThen;
}

/** In mid-sweep: so many rows have not moved that no field can come to "nearly all", nor to "all from there on". */
export function isOrdinary(drift: DriftTally, expectedRows: number): boolean {
  return Object.values(drift.fields).every((seen) => {
    const couldMove = rowsIn(seen.forms, Object.keys(seen.from));
    // Where many rows could not move, those that stayed say little about the others.
    if (shareOf(seen, couldMove) < NEARLY_ALL) return false;
    const stayed = drift.rows - seen.after - seen.moved;
    return stayed > 2 * NEXT_TO_NONE * Math.max(expectedRows, couldMove);
  });
}

/** How much of the list could move. */
function shareOf({ forms }: DriftField, couldMove: number): number {
  return couldMove / Math.max(1, rowsIn(forms, Object.keys(forms)));
}

function rowsIn(counts: Readonly<Record<string, number>>, forms: readonly string[]): number {
  return forms.reduce((sum, form) => sum + (counts[form] ?? 0), 0);
}

/** The fields of a row that only follow what the sweep before reported. */
export function followers(moved: readonly Transition[], past: readonly PastDrift[]): ReadonlySet<string> {
  const follows = ({ field, from }: Transition): boolean =>
    past.some((drift) => drift.field === field && drift.from.includes(from));
  return new Set(moved.filter(follows).map(({ field }) => field));
}

function schemaChange(field: string, { moved, from, to }: DriftField, share: number): SchemaChange {
  const [before, after] = [samples(from), samples(to)];
  const kind = isOnly(before, ABSENT) ? 'appeared' : isOnly(after, ABSENT) ? 'vanished' : 'changed';
  return { field, kind, rows: moved, share: Math.round(share * 1_000) / 1_000, before, after };
}

function samples(counts: Readonly<Record<string, number>>): string[] {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return sorted.slice(0, SAMPLES).map(([form]) => form);
}

function isOnly(forms: readonly string[], form: string): boolean {
  return forms.length === 1 && forms[0] === form;
}
