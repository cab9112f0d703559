/**
 * Schema drift: a field that appears, vanishes or changes its value type on nearly all rows of a sweep is one change of the
 * schema and one event, not one event per record. Rows arrive one by one, so the decision needs the end of the sweep. Until
 * then, records whose fields moved in an unusual way are kept in quarantine: nothing of them is stored or reported. Nothing is
 * decided early in favour of drift, because a person who fills a field on half of the rows must get an event for each.
 *
 * States of a field of a list, within and between sweeps:
 *
 * - usual: no row moved in an unusual way. The first unusual move of a known row (`isUnusual`) makes the field *moving*.
 * - moving (`DriftTally.fields`): moves are counted, and the rows that moved are in quarantine. In mid-sweep it becomes
 *   *ordinary* when so many rows have stayed that drift is impossible (`noFieldCanDrift`). A page on which hardly any of the rows
 *   moved that could have (`fieldsThatStay`) shows that the schema had not changed when it was read: moves on this page are neither
 *   counted nor put into quarantine. At the end of the sweep (`decideDrift`) it becomes
 *   - *drifted* when at least ten rows moved and they are 90 % of the rows that could;
 *   - *carried* when instead nearly all rows after the first that moved did so: the schema may have changed in mid-sweep;
 *   - *begun* in the same case with fewer than ten rows;
 *   - *usual* otherwise: each move is an event of its own record.
 * - ordinary (`DriftTally.ordinary`): no drift in this sweep. Quarantined rows are released as events, and further moves are
 *   events at once. Becomes *usual* with the end of the sweep.
 * - carried (`OpenDrift.carried`): its rows stay in quarantine for one more sweep. That sweep counts from zero and decides:
 *   the field cannot be carried twice.
 * - begun (`OpenDrift.begun`): its rows were reported, because an edit on the last row of a list must not wait for a sweep.
 *   Their counts continue in the next sweep. If the other rows follow, it is *drifted* from then on.
 * - drifted (`PastDrift`): one event was emitted. Quarantined rows are stored without an event, except for moves of their own
 *   (`movesOfSchema`). For three complete sweeps, rows that make the same move follow silently (`fieldsFollowingDrift`);
 *   then the field is *usual*.
 *
 * `sweep/classify-record.ts` puts records into quarantine, `sweep/release-quarantine.ts` takes them out, and
 * `sweep/finish-sweep.ts` commits the decision.
 */
import { buildEvent } from '../../events/envelope.js';
import type { ChangeEvent, SchemaChange } from '../../events/types.js';
import { inEpoch, type Observation } from '../build-event.js';
import { digestOf } from '../digest.js';
import { memoized } from '../memoized.js';
import type { Rules } from '../rules.js';
import { valueTypesOfField, type SchemaTally } from './schema.js';
import { ABSENT, isEmptyValueType } from './value-type.js';

const NEARLY_ALL = 0.9;
/** Not written as 1 - 0.9, which is a little less than a tenth. */
const HARDLY_ANY = 0.1;
/** With fewer rows, "nearly all" proves nothing, and each row is reported on its own. */
const FEWEST_ROWS = 10;
/** When this share of the rows has stayed, no change of the schema is possible any more, not even one in mid-sweep. */
const MUST_STAY = 2 * HARDLY_ANY;
const SAMPLES = 3;

/** One field of one row that took another value type. */
export interface Transition {
  field: string;
  from: string;
  to: string;
}

/** The possible drift that a sweep has seen. Plain data, persisted with the checkpoint. */
export interface DriftTally {
  /** Rows seen that have a stored record. */
  rows: number;
  fields: Readonly<Record<string, DriftField>>;
  /** Fields that the sweep before left open. This sweep decides about them. */
  carried: readonly string[];
  /** Fields that cannot drift in this sweep: their moves no longer put records into quarantine. */
  ordinary: readonly string[];
}

/** From which value type to which: rows. */
type Moves = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface DriftField {
  /** Rows that moved. */
  moved: number;
  /** Rows with a stored record seen before the first row that moved. */
  after: number;
  moves: Moves;
  /** Rows per value type when the first row moved. */
  valueTypes: Readonly<Record<string, number>>;
}

/** A field that drifted lately. Rows that the sweep of the drift did not show follow silently. */
export interface PastDrift {
  field: string;
  /** From which value type to which others. */
  moves: Readonly<Record<string, readonly string[]>>;
  /** Complete sweeps in which rows may still follow. */
  sweeps: number;
}

/** A longer time would mute a person who fills the field of a new record. */
const SWEEPS_TO_FOLLOW = 3;

/** The past drifts after one more complete sweep, including what drifted in it. */
export function pastAfter(past: readonly PastDrift[], drifted: readonly Omit<PastDrift, 'sweeps'>[]): PastDrift[] {
  const fields = new Set(drifted.map(({ field }) => field));
  const older = past.filter(({ field, sweeps }) => sweeps > 1 && !fields.has(field));
  return [
    ...older.map((one) => ({ ...one, sweeps: one.sweeps - 1 })),
    ...drifted.map((one) => ({ ...one, sweeps: SWEEPS_TO_FOLLOW })),
  ];
}

/** What a complete sweep leaves for the next one to decide. */
export interface OpenDrift {
  /** Fields in which many rows moved. These rows stay in quarantine. */
  carried?: readonly string[] | undefined;
  /** Fields in which few rows moved. These rows were reported, and count together with those of the next sweep. */
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

/** A move into a value type that hardly any row has, from one that at least ten rows have. Other moves are ordinary edits. */
export function isUnusual({ field, from, to }: Transition, schema: SchemaTally, drift: DriftTally): boolean {
  if (schema.rows < FEWEST_ROWS || setOf(drift.ordinary).has(field)) return false;
  // A move between null, absent and an empty list is noise where rows have both, even in a moving field.
  const isEmptyMove = isEmptyValueType(from) && isEmptyValueType(to);
  if (!isEmptyMove && Object.hasOwn(drift.fields, field)) return true;
  const types = valueTypesOfField(schema, field);
  return (types[to] ?? 0) <= HARDLY_ANY * schema.rows && rowsLike(from, types) >= FEWEST_ROWS;
}

/** A record may have 100,000 fields, and as many may be moving. Searching the array for each would take hours. */
function setOf(names: readonly string[]): ReadonlySet<string> {
  return memoized(sets, names, () => new Set(names));
}

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Null, absent and an empty list count as one value type, because some servers use them interchangeably. */
function rowsLike(type: string, types: Readonly<Record<string, number>>): number {
  return isEmptyValueType(type) ? rowsIn(types, Object.keys(types).filter(isEmptyValueType)) : (types[type] ?? 0);
}

/** The tally with one more row that has a stored record. `moved` holds its unusual moves. */
export function addToDrift(drift: DriftTally, moved: readonly Transition[], schema: SchemaTally): DriftTally {
  const rows = drift.rows + 1;
  if (moved.length === 0) return { ...drift, rows };
  // A Map, because a field may be called "constructor" or "__proto__".
  const fields = new Map(Object.entries(drift.fields));
  for (const { field, from, to } of moved) {
    const first: DriftField = { moved: 0, after: drift.rows, moves: {}, valueTypes: valueTypesOfField(schema, field) };
    const seen = fields.get(field) ?? first;
    const moves = { ...seen.moves, [from]: oneMore(seen.moves[from] ?? {}, to) };
    fields.set(field, { ...seen, moved: seen.moved + 1, moves });
  }
  return { ...drift, rows, fields: Object.fromEntries(fields) };
}

function oneMore(counts: Readonly<Record<string, number>>, type: string): Record<string, number> {
  return { ...counts, [type]: (counts[type] ?? 0) + 1 };
}

export interface DriftDecision {
  /** Fields that drifted: one event each. */
  drifted: SchemaChange[];
  /** Fields that the next sweep decides, with ten rows or more. */
  undecided: string[];
  /** The same with fewer rows, which are reported at once: an edit of the last rows of a list must not wait for a sweep. */
  begun: Record<string, DriftField>;
}

/** Decides about every moving field at the end of a complete sweep. */
export function decideDrift(drift: DriftTally): DriftDecision {
  const drifted: SchemaChange[] = [];
  const undecided: string[] = [];
  const begun: [string, DriftField][] = [];
  for (const [field, seen] of Object.entries(drift.fields)) {
    const isMany = seen.moved >= FEWEST_ROWS;
    const couldMove = rowsThatCouldMove(seen);
    const share = Math.min(1, seen.moved / Math.max(couldMove, seen.moved));
    if (isMany && share >= NEARLY_ALL) drifted.push(schemaChange(field, seen, share));
    else if (!setOf(drift.carried).has(field) && movedToTheEnd(seen, drift.rows, couldMove)) {
      if (isMany) undecided.push(field);
      else begun.push([field, seen]);
    }
  }
  return { drifted, undecided, begun: Object.fromEntries(begun) };
}

/** Of the rows after the first that moved, nearly all that could move did. */
function movedToTheEnd(seen: DriftField, rows: number, couldMove: number): boolean {
  const sinceThen = (rows - seen.after) * shareOf(seen, couldMove);
  return seen.moved >= NEARLY_ALL * sinceThen;
}

/**
 * True in mid-sweep when so many rows have stayed that no moving field can reach "nearly all", neither of all rows nor of the
 * rows from the first move on. Another field may still start to move in the rest of the sweep.
 */
export function noFieldCanDrift({ rows, fields, carried, ordinary }: DriftTally, expectedRows: number): boolean {
  const open = new Set([...carried, ...Object.keys(fields)].filter((field) => !setOf(ordinary).has(field)));
  const seenOf = new Map(Object.entries(fields));
  return [...open].every((field) => {
    const seen = seenOf.get(field);
    // A carried field in which no row has moved so far.
    if (seen === undefined) return rows > MUST_STAY * expectedRows;
    const couldMove = rowsThatCouldMove(seen);
    // Where many rows cannot move, the rows that stayed prove little about the others.
    if (shareOf(seen, couldMove) < NEARLY_ALL) return false;
    return rows - seen.after - seen.moved > MUST_STAY * Math.max(expectedRows, couldMove);
  });
}

/**
 * The tally for one page, with the fields made ordinary that did not drift by the evidence of the page: at least ten of its rows could have
 * moved and stayed, and hardly any moved. A server changes its schema for all rows of an answer.
 * @param page.moved the unusual moves of each row of the page, and `page.shown` the value types of all its rows
 */
export function fieldsThatStay(
  drift: DriftTally,
  { moved, shown }: { moved: readonly (readonly Transition[])[]; shown: readonly ReadonlyMap<string, string>[] },
): DriftTally {
  const typesBefore = new Map<string, string[]>();
  for (const { field, from } of moved.flat()) pushTo(typesBefore, field, from);
  const staying = [...typesBefore].flatMap(([field, from]) => {
    const stayed = shown.filter((types) => isLike(types.get(field) ?? ABSENT, from)).length;
    return stayed >= FEWEST_ROWS && from.length <= HARDLY_ANY * (stayed + from.length) ? [field] : [];
  });
  return staying.length === 0 ? drift : { ...drift, ordinary: [...drift.ordinary, ...staying] };
}

/** Copying the array for each item would be quadratic. */
function pushTo<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const items = map.get(key);
  if (items === undefined) map.set(key, [item]);
  else items.push(item);
}

function isLike(type: string, types: readonly string[]): boolean {
  return types.includes(type) || (isEmptyValueType(type) && types.some(isEmptyValueType));
}

/** Makes the moving and the carried fields ordinary. */
export function withOrdinaryFields(drift: DriftTally): DriftTally {
  const { carried, fields, ordinary } = drift;
  return { ...drift, fields: {}, ordinary: [...new Set([...ordinary, ...carried, ...Object.keys(fields)])] };
}

/** The share of the list that could move. */
function shareOf({ valueTypes }: DriftField, couldMove: number): number {
  return couldMove / Math.max(1, rowsIn(valueTypes, Object.keys(valueTypes)));
}

function rowsThatCouldMove({ valueTypes, moves }: DriftField): number {
  return rowsIn(valueTypes, Object.keys(moves));
}

function rowsIn(counts: Readonly<Record<string, number>>, types: readonly string[]): number {
  return types.reduce((sum, type) => sum + (counts[type] ?? 0), 0);
}

/**
 * The moves of a drifted field that the schema made: the frequent ones, and those of nearly all rows of a value type. A rare
 * move is a person's own edit in two cases: it led to another value type than the frequent moves, one that rows already had; or
 * the frequent moves are all between empty value types (a key came or went), so that they explain no other move.
 */
export function movesOfSchema({ moved, moves, valueTypes }: DriftField): PastDrift['moves'] {
  const all = steps(moves);
  const main = all.filter(({ rows }) => rows > HARDLY_ANY * moved);
  const isEmptyOnly = main.every(({ from, to }) => isEmptyValueType(from) && isEmptyValueType(to));
  const destinations = new Set(main.map(({ to }) => to));
  const isOwnEdit = ({ from, to, rows }: Step): boolean =>
    rows < NEARLY_ALL * (valueTypes[from] ?? 0) &&
    (isEmptyOnly || (!destinations.has(to) && (valueTypes[to] ?? 0) > 0));
  const ofSchema = all.filter((step) => main.includes(step) || !isOwnEdit(step));
  const from = new Set(ofSchema.map((step) => step.from));
  const into = (type: string): string[] => ofSchema.filter((step) => step.from === type).map(({ to }) => to);
  return Object.fromEntries([...from].map((type) => [type, into(type)]));
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

/** The fields of a row whose moves repeat a drift that was, or is being, reported. They yield no event. */
export function fieldsFollowingDrift(moved: readonly Transition[], drifted: readonly PastDrift[]): ReadonlySet<string> {
  if (moved.length === 0 || drifted.length === 0) return new Set();
  const movesOf = new Map<string, PastDrift['moves'][]>();
  for (const { field, moves } of drifted) pushTo(movesOf, field, moves);
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

/** The most frequent value types. */
function samples(seen: readonly (readonly [type: string, rows: number])[]): string[] {
  const counts = new Map<string, number>();
  for (const [type, rows] of seen) counts.set(type, (counts.get(type) ?? 0) + rows);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.slice(0, SAMPLES).map(([type]) => type);
}

function isOnly(types: readonly string[], type: string): boolean {
  return types.length === 1 && types[0] === type;
}

/** The event of a drifted field. Its sequence counts the events of that field. */
export function schemaEvent(
  schema: SchemaChange,
  { rules, observation, sequence }: { rules: Rules; observation: Observation; sequence: number },
): ChangeEvent {
  return buildEvent({
    workspace: observation.workspace,
    list: rules.list,
    verb: 'schema_changed',
    recordId: `schema:${schema.field}`,
    time: observation.observedAt,
    contentDigest: inEpoch(digestOf(JSON.stringify([schema.kind, schema.before, schema.after])), observation),
    data: {
      before: null,
      after: null,
      changes: [],
      sequence,
      class: 'refreshed',
      detectedBy: 'content',
      observedAt: observation.observedAt,
      sweep: observation.sweep,
      schema,
    },
  });
}
