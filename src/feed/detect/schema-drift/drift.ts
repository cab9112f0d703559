/**
 * Schema drift: a field that appears, vanishes or changes its value type on nearly all rows of a list is one event.
 * When it moves on most rows of a page, a survey counts the whole list. Rows that make the moves of a drifted field
 * follow without an event, also in the next sweeps: a row may not have been shown.
 */
import { z } from 'zod';
import { buildEvent } from '../../../events/envelope.js';
import type { ChangeEvent, SchemaChange } from '../../../events/types.js';
import type { Observation } from '../build-event.js';
import { digestOf } from '../../../crm/canonical.js';
import type { UncheckedRecord } from '../../../crm/record.js';
import type { Rules } from '../rules.js';
import { isStored } from '../record-state.js';
import { isOfOtherMasks, type StoredRecord } from '../stored-record.js';
import {
  ABSENT,
  isEmptyValueType,
  valueTypesOf,
  valueTypesOfField,
  type SchemaTally,
  type TrackedFields,
  type Transition,
  type ValueTypes,
} from './schema.js';

const NEARLY_ALL = 0.9;
/** Not written as 1 - 0.9, which is a little less than a tenth. */
const HARDLY_ANY = 0.1;
/** "Nearly all" of fewer rows proves nothing; each of them is reported on its own. */
const FEWEST_ROWS = 10;
const SAMPLES = 3;

/** Numbers of rows, by the value type before and then by the one after. */
type Moves = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface FieldMoves {
  /** Rows that moved. */
  moved: number;
  moves: Moves;
  /** Rows per value type before. */
  valueTypes: Readonly<Record<string, number>>;
}

export const driftedField = z.object({
  field: z.string(),
  moves: z.record(z.string(), z.array(z.string()).readonly()).readonly(),
});
/** A field that drifted: the moves that the schema made, from which value type to which others. */
export type DriftedField = z.infer<typeof driftedField>;

export const pastDrift = driftedField.extend({
  /** Complete sweeps in which rows may still follow. */
  sweeps: z.number(),
});
/** A field that drifted lately. Rows that the sweep of the drift did not show follow silently. */
export type PastDrift = z.infer<typeof pastDrift>;

/** A longer time would mute a person who fills the field of a new record. */
const SWEEPS_TO_FOLLOW = 3;

export function pastAfter(past: readonly PastDrift[], drifted: readonly DriftedField[]): PastDrift[] {
  const fields = new Set(drifted.map(({ field }) => field));
  const older = past.filter(({ field, sweeps }) => sweeps > 1 && !fields.has(field));
  return [
    ...older.map((one) => ({ ...one, sweeps: one.sweeps - 1 })),
    ...drifted.map((one) => ({ ...one, sweeps: SWEEPS_TO_FOLLOW })),
  ];
}

/**
 * A move from a value type of at least ten rows into one of hardly any. In a survey, every further move of a moving
 * field too, but for those between empty values, which are noise where rows have both.
 */
export function isUnusual({ field, from, to }: Transition, schema: SchemaTally, isMoving = false): boolean {
  if (schema.rows < FEWEST_ROWS) return false;
  const isEmptyMove = isEmptyValueType(from) && isEmptyValueType(to);
  if (isMoving && !isEmptyMove) return true;
  const types = valueTypesOfField(schema, field);
  return (types[to] ?? 0) <= HARDLY_ANY * schema.rows && rowsLike(from, types) >= FEWEST_ROWS;
}

/** Null, absent and an empty list count as one value type, because some servers use them interchangeably. */
function rowsLike(type: string, types: Readonly<Record<string, number>>): number {
  return isEmptyValueType(type) ? rowsIn(types, Object.keys(types).filter(isEmptyValueType)) : (types[type] ?? 0);
}

interface MovesOfPage {
  moved: readonly (readonly Transition[])[];
  shown: readonly ValueTypes[];
}

/**
 * A server changes its schema for all rows of an answer: where most stayed, each move is an edit. Moves that are no
 * differences under the rules count only when most rows of the page made them: some servers use null at random.
 */
export function movingFields({ moved, shown }: MovesOfPage, isChange: (move: Transition) => boolean): string[] {
  const byField = new Map<string, Transition[]>();
  for (const move of moved.flat()) {
    const moves = byField.get(move.field);
    // Copying the array for each move would be quadratic.
    if (moves === undefined) byField.set(move.field, [move]);
    else moves.push(move);
  }
  const moving: string[] = [];
  for (const [field, moves] of byField) {
    const before = new Set(moves.map(({ from }) => from));
    const wasEmpty = [...before].some(isEmptyValueType);
    const couldMove = (type: string): boolean => before.has(type) || (wasEmpty && isEmptyValueType(type));
    const into = new Map<string, number>();
    for (const { to } of moves) into.set(to, (into.get(to) ?? 0) + 1);
    const typesNow = new Map<string, number>();
    for (const types of shown) {
      const type = types.get(field) ?? ABSENT;
      typesNow.set(type, (typesNow.get(type) ?? 0) + 1);
    }
    const stayed = [...typesNow].reduce(
      (sum, [type, rows]) => sum + (couldMove(type) ? rows - (into.get(type) ?? 0) : 0),
      0,
    );
    if (moves.length > (moves.some(isChange) ? stayed : shown.length / 2)) moving.push(field);
  }
  return moving;
}

export interface MoveRules {
  rules: Rules;
  schema: SchemaTally;
  tracked: TrackedFields;
  /** Fields that drifted lately: rows that follow are no news. */
  drifted: readonly DriftedField[];
}

export interface AskedMoves extends MoveRules {
  edited: readonly string[];
  /** Fields of which a survey has seen a move. @defaultValue none */
  isMoving?: (field: string) => boolean;
}

/** The moves that neither the schema of the list nor a verdict explains. */
export function unknownMoves(
  moves: readonly Transition[],
  { rules, schema, tracked, drifted, edited, isMoving = () => false }: AskedMoves,
): Transition[] {
  if (!rules.collapse) return [];
  const moved = moves.filter(({ field }) => rules.compares(field) && !edited.includes(field));
  const follows = fieldsFollowingDrift(moved, drifted);
  // How many rows have an untracked field is not known, so its moves cannot be called unusual.
  return moved.filter(
    (one) => !follows.has(one.field) && tracked.admits(one.field) && isUnusual(one, schema, isMoving(one.field)),
  );
}

function isDifference({ from, to }: Transition, { nullIsAbsent }: Rules): boolean {
  return !nullIsAbsent || !(isEmptyValueType(from) && isEmptyValueType(to));
}

/** Fields that move on most rows of a page in a way that is new to the schema: the whole list must be asked. */
export interface PageMoves {
  /** The transitions of each row that differs, in order. */
  moved: readonly (readonly Transition[])[];
  moving: readonly string[];
}

export const NO_MOVES: PageMoves = { moved: [], moving: [] };

export function movesOnPage(
  rows: readonly { record: UncheckedRecord }[],
  differing: readonly { stored: StoredRecord | null; moves: readonly Transition[] }[],
  known: AskedMoves,
): PageMoves {
  const { rules } = known;
  const moved = differing.map(({ stored, moves }) => {
    if (!isStored(stored) || isOfOtherMasks(stored, rules)) return [];
    return unknownMoves(moves, known);
  });
  if (moved.every((moves) => moves.length === 0)) return NO_MOVES;
  const shown = rows.map(({ record }) => valueTypesOf(record, rules));
  return { moved, moving: movingFields({ moved, shown }, (move) => isDifference(move, rules)) };
}

/** The change of the schema that the moves of a whole list show; null when they are edits of single records. */
export function driftOf(field: string, seen: FieldMoves): SchemaChange | null {
  const couldMove = rowsIn(seen.valueTypes, Object.keys(seen.moves));
  const share = Math.min(1, seen.moved / Math.max(couldMove, seen.moved));
  return seen.moved >= FEWEST_ROWS && share >= NEARLY_ALL ? schemaChange(field, seen, share) : null;
}

function rowsIn(counts: Readonly<Record<string, number>>, types: readonly string[]): number {
  return types.reduce((sum, type) => sum + (counts[type] ?? 0), 0);
}

/**
 * The frequent moves, and those of nearly all rows of a value type. A rare move to a value type that rows already
 * had, or beside only moves between empty value types, is a person's own edit.
 */
export function movesOfSchema({ moved, moves, valueTypes }: FieldMoves): DriftedField['moves'] {
  const all = steps(moves);
  const main = all.filter(({ rows }) => rows > HARDLY_ANY * moved);
  const isEmptyOnly = main.every(({ from, to }) => isEmptyValueType(from) && isEmptyValueType(to));
  const destinations = new Set(main.map(({ to }) => to));
  const isOwnEdit = ({ from, to, rows }: TypeMove): boolean =>
    rows < NEARLY_ALL * (valueTypes[from] ?? 0) &&
    (isEmptyOnly || (!destinations.has(to) && (valueTypes[to] ?? 0) > 0));
  const ofSchema = all.filter((step) => main.includes(step) || !isOwnEdit(step));
  const from = new Set(ofSchema.map((step) => step.from));
  const into = (type: string): string[] => ofSchema.filter((step) => step.from === type).map(({ to }) => to);
  return Object.fromEntries([...from].map((type) => [type, into(type)]));
}

interface TypeMove {
  from: string;
  to: string;
  rows: number;
}

function steps(moves: Moves): TypeMove[] {
  return Object.entries(moves).flatMap(([from, into]) =>
    Object.entries(into).map(([to, rows]) => ({ from, to, rows })),
  );
}

/** The fields of a row whose moves repeat a drift that was reported. They yield no event. */
export function fieldsFollowingDrift(
  moved: readonly Transition[],
  drifted: readonly DriftedField[],
): ReadonlySet<string> {
  if (moved.length === 0 || drifted.length === 0) return new Set();
  const follows = ({ field, from, to }: Transition): boolean =>
    drifted.some((one) => one.field === field && one.moves[from]?.includes(to) === true);
  return new Set(moved.filter(follows).map(({ field }) => field));
}

function schemaChange(field: string, { moved, moves }: FieldMoves, share: number): SchemaChange {
  const all = steps(moves);
  const before = samples(all.map(({ from, rows }) => [from, rows]));
  const after = samples(all.map(({ to, rows }) => [to, rows]));
  const kind = isOnly(before, ABSENT) ? 'appeared' : isOnly(after, ABSENT) ? 'vanished' : 'changed';
  return { field, kind, rows: moved, share: Math.round(share * 1_000) / 1_000, before, after };
}

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
    contentDigest: digestOf(JSON.stringify([schema.kind, schema.before, schema.after])),
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
