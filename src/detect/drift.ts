/**
 * Schema drift: a key that appears, vanishes or changes form on nearly all rows of a sweep is one change of the schema,
 * not one change per record. Rows are judged one by one, so the decision needs the end of the sweep: until then, records
 * that moved in an unusual way wait. Nothing is decided early in favour of drift: a person who fills a field on half of
 * the rows must be heard.
 */
import type { SchemaChange } from '../events/types.js';
import { ABSENT, isEmptyValueType } from './form.js';
import { formsOfField, type SchemaTally } from './schema.js';
import { workedOut } from './worked-out.js';

/** "Nearly all". */
const NEARLY_ALL = 0.9;
/** "Next to none": not 1 - 0.9, which is a little less than a tenth. */
const NEXT_TO_NONE = 0.1;
/** With fewer rows than this, "nearly all of them" says nothing: each is reported by itself. */
const FEWEST_ROWS = 10;
/** That no change of the schema leaves so many of the rows as they were, be it one in mid-sweep. */
const MUST_STAY = 2 * NEXT_TO_NONE;
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
  /** Fields that the sweep before left open: this one decides. */
  carried: readonly string[];
  /** Fields that turned out to be no drift: for them nothing waits any more in this sweep. */
  ordinary: readonly string[];
}

/** From which form to which: rows. */
type Moves = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface DriftField {
  /** Rows that moved. */
  moved: number;
  /** Known rows seen before the first of them. */
  after: number;
  moves: Moves;
  /** Rows per form when the first of them was seen. */
  forms: Readonly<Record<string, number>>;
}

/** A field that drifted lately: rows that were not shown then move along in silence. */
export interface PastDrift {
  field: string;
  /** From which form to which others. */
  moves: Readonly<Record<string, readonly string[]>>;
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

/** What a complete sweep leaves open, for the next one to decide. */
export interface OpenDrift {
  /** Fields in which many rows moved; these rows wait. */
  carried?: readonly string[] | undefined;
  /** Fields in which too few rows moved to wait for more; these rows were told, and count with those of the next sweep. */
  begun?: Readonly<Record<string, DriftField>> | undefined;
}

export function noDrift({ carried = [], begun = {} }: OpenDrift = {}): DriftTally {
  const fields = Object.fromEntries(Object.entries(begun).map(([field, seen]) => [field, { ...seen, after: 0 }]));
  return { rows: 0, fields, carried: [...carried, ...Object.keys(fields)], ordinary: [] };
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
  if (schema.rows < FEWEST_ROWS || setOf(drift.ordinary).has(field)) return false;
  // From nothing to nothing is noise where both are at home, even in a field on the move.
  const saysNothing = isEmptyValueType(from) && isEmptyValueType(to);
  if (!saysNothing && Object.hasOwn(drift.fields, field)) return true;
  const forms = formsOfField(schema, field);
  return (forms[to] ?? 0) <= NEXT_TO_NONE * schema.rows && rowsLike(from, forms) >= FEWEST_ROWS;
}

/** A record may have 100,000 fields, and as many may be in question: a search of the list for each would take hours. */
function setOf(names: readonly string[]): ReadonlySet<string> {
  return workedOut(sets, names, () => new Set(names));
}

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** A server that says "nothing" now as null and now by silence has one form there, not two half as common. */
function rowsLike(form: string, forms: Readonly<Record<string, number>>): number {
  return isEmptyValueType(form) ? rowsIn(forms, Object.keys(forms).filter(isEmptyValueType)) : (forms[form] ?? 0);
}

export function tallied(drift: DriftTally, moved: readonly Transition[], schema: SchemaTally): DriftTally {
  const rows = drift.rows + 1;
  if (moved.length === 0) return { ...drift, rows };
  // A field may be called "constructor" or "__proto__".
  const fields = new Map(Object.entries(drift.fields));
  for (const { field, from, to } of moved) {
    const first: DriftField = { moved: 0, after: drift.rows, moves: {}, forms: formsOfField(schema, field) };
    const known = fields.get(field) ?? first;
    const moves = { ...known.moves, [from]: more(known.moves[from] ?? {}, to) };
    fields.set(field, { ...known, moved: known.moved + 1, moves });
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
  /**
   * The same, of fewer rows than have to wait: an edit of the last row would wait as well, and what it was in between be
   * lost. They are told as what they look like; should the others follow, it is a change of the schema from then on.
   */
  begun: Record<string, DriftField>;
}

/** At the end of a complete sweep. */
export function decideDrift(drift: DriftTally): DriftDecision {
  const drifted: SchemaChange[] = [];
  const undecided: string[] = [];
  const begun: [string, DriftField][] = [];
  for (const [field, seen] of Object.entries(drift.fields)) {
    const isMany = seen.moved >= FEWEST_ROWS;
    const couldMove = rowsThatCould(seen);
    const share = Math.min(1, seen.moved / Math.max(couldMove, seen.moved));
    if (isMany && share >= NEARLY_ALL) drifted.push(schemaChange(field, seen, share));
    else if (!setOf(drift.carried).has(field) && movedFromThereOn(seen, drift.rows, couldMove)) {
      if (isMany) undecided.push(field);
      else begun.push([field, seen]);
    }
  }
  return { drifted, undecided, begun: Object.fromEntries(begun) };
}

/** Of the rows after the first that moved, nearly all of those that could did. */
function movedFromThereOn(seen: DriftField, rows: number, couldMove: number): boolean {
  const sinceThen = (rows - seen.after) * shareOf(seen, couldMove);
  return seen.moved >= NEARLY_ALL * sinceThen;
}

/**
 * In mid-sweep: so many rows have not moved that no field can come to "nearly all", nor to "all from there on". Another field
 * may still drift in what is left of the sweep.
 */
export function isOrdinary({ rows, fields, carried, ordinary }: DriftTally, expectedRows: number): boolean {
  const open = new Set([...carried, ...Object.keys(fields)].filter((field) => !setOf(ordinary).has(field)));
  const seenOf = new Map(Object.entries(fields));
  return [...open].every((field) => {
    const seen = seenOf.get(field);
    // Of a field that was left open, none has moved so far.
    if (seen === undefined) return rows > MUST_STAY * expectedRows;
    const couldMove = rowsThatCould(seen);
    // Where many rows could not move, those that stayed say little about the others.
    if (shareOf(seen, couldMove) < NEARLY_ALL) return false;
    return rows - seen.after - seen.moved > MUST_STAY * Math.max(expectedRows, couldMove);
  });
}

/** The fields that have moved so far are ordinary, and so are those that were left open. */
export function withoutOrdinary(drift: DriftTally): DriftTally {
  const { carried, fields, ordinary } = drift;
  return { ...drift, fields: {}, ordinary: [...new Set([...ordinary, ...carried, ...Object.keys(fields)])] };
}

/** How much of the list could move. */
function shareOf({ forms }: DriftField, couldMove: number): number {
  return couldMove / Math.max(1, rowsIn(forms, Object.keys(forms)));
}

function rowsThatCould({ forms, moves }: DriftField): number {
  return rowsIn(forms, Object.keys(moves));
}

function rowsIn(counts: Readonly<Record<string, number>>, forms: readonly string[]): number {
  return forms.reduce((sum, form) => sum + (counts[form] ?? 0), 0);
}

/**
 * The moves that are the schema's doing: those of many, and those of nearly all rows that had been of a form. A rare one is
 * somebody's own edit where it led elsewhere than the others, to a form that was at home before; or where the others all went
 * from nothing to nothing: a key that came or went without saying anything.
 */
export function movesOfSchema({ moved, moves, forms }: DriftField): PastDrift['moves'] {
  const all = steps(moves);
  const main = all.filter(({ rows }) => rows > NEXT_TO_NONE * moved);
  const saysNothing = main.every(({ from, to }) => isEmptyValueType(from) && isEmptyValueType(to));
  const destinations = new Set(main.map(({ to }) => to));
  const isOwn = ({ from, to, rows }: Step): boolean =>
    rows < NEARLY_ALL * (forms[from] ?? 0) && (saysNothing || (!destinations.has(to) && (forms[to] ?? 0) > 0));
  const ofSchema = all.filter((step) => main.includes(step) || !isOwn(step));
  const from = new Set(ofSchema.map((step) => step.from));
  const into = (form: string): string[] => ofSchema.filter((step) => step.from === form).map(({ to }) => to);
  return Object.fromEntries([...from].map((form) => [form, into(form)]));
}

interface Step {
  from: string;
  to: string;
  rows: number;
}

function steps(moves: Moves): Step[] {
  return Object.entries(moves).flatMap(([from, into]) =>
    Object.entries(into).map(([to, rows]) => ({ from, to, rows })),
  );
}

/** The fields of a row that only follow what was, or is being, reported of the schema. */
export function followers(moved: readonly Transition[], drifted: readonly PastDrift[]): ReadonlySet<string> {
  if (moved.length === 0 || drifted.length === 0) return new Set();
  const movesOf = new Map<string, PastDrift['moves'][]>();
  for (const { field, moves } of drifted) movesOf.set(field, [...(movesOf.get(field) ?? []), moves]);
  const follows = ({ field, from, to }: Transition): boolean =>
    movesOf.get(field)?.some((moves) => moves[from]?.includes(to) === true) === true;
  return new Set(moved.filter(follows).map(({ field }) => field));
}

function schemaChange(field: string, { moved, moves }: DriftField, share: number): SchemaChange {
  const all = steps(moves);
  const before = samples(all.map(({ from, rows }) => [from, rows]));
  const after = samples(all.map(({ to, rows }) => [to, rows]));
  const kind = isOnly(before, ABSENT) ? 'appeared' : isOnly(after, ABSENT) ? 'vanished' : 'changed';
  return { field, kind, rows: moved, share: Math.round(share * 1_000) / 1_000, before, after };
}

/** The most frequent forms. */
function samples(seen: readonly (readonly [form: string, rows: number])[]): string[] {
  const counts = new Map<string, number>();
  for (const [form, rows] of seen) counts.set(form, (counts.get(form) ?? 0) + rows);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.slice(0, SAMPLES).map(([form]) => form);
}

function isOnly(forms: readonly string[], form: string): boolean {
  return forms.length === 1 && forms[0] === form;
}
