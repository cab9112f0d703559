/**
 * The schema of a list as its rows show it: which fields there are, with which value types, on how many rows. The type of a value
 * says nothing of its contents: schema events show it in place of people's data.
 */
import { differingNames, isTwin } from '../../../crm/canonical.js';
import { writtenName } from '../../../crm/lists/descriptor.js';
import type { UncheckedRecord } from '../../../crm/record.js';
import type { Rules } from '../rules.js';

/** Field → value type, without absent fields. */
export type ValueTypes = ReadonlyMap<string, string>;

/** A field that has another value type than before. */
export interface Transition {
  field: string;
  from: string;
  to: string;
}

/** @param names of the fields that are read. @defaultValue all */
export function valueTypesOf(record: UncheckedRecord, { list }: Rules, names = Object.keys(record)): ValueTypes {
  const types = new Map<string, string>();
  for (const name of names) {
    const type = valueTypeOf(record[name]);
    if (type === ABSENT) continue;
    const composed = name.normalize('NFC');
    const isOwn = isTwin(name, composed, record, { nullIsAbsent: true });
    types.set(isOwn ? name : writtenName(list, composed, record), type);
  }
  return types;
}

export function transitions(before: ValueTypes, after: ValueTypes): Transition[] {
  const moved: Transition[] = [];
  for (const field of new Set([...before.keys(), ...after.keys()])) {
    const from = before.get(field) ?? ABSENT;
    const to = after.get(field) ?? ABSENT;
    if (from !== to) moved.push({ field, from, to });
  }
  return moved;
}

export function movesBetween(before: UncheckedRecord, after: UncheckedRecord, rules: Rules): Transition[] {
  const names = differingNames(before, after);
  return transitions(valueTypesOf(before, rules, names.one), valueTypesOf(after, rules, names.other));
}

export const ABSENT = 'absent';

/** Objects with more keys are maps rather than records, and their keys may be people's data. */
const MOST_KEYS = 8;

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/u;

/** A server that starts to cut its times changes the value type of all rows at once. */
const CUT_TO_THE_MINUTE = /T\d{2}:\d{2}(:00(\.0+)?)?[^:\d.]/u;

/** The types of JSON, or `timestamp`, `timestamp to the minute`, `{id, name}`, `list of {id, name}`, `empty list`. */
export function valueTypeOf(value: unknown): string {
  if (value === undefined) return ABSENT;
  if (value === null) return 'null';
  if (Array.isArray(value)) return typeOfList(value);
  if (typeof value === 'object') return typeOfObject(value);
  if (typeof value === 'string') return typeOfText(value);
  return typeof value;
}

function typeOfText(text: string): string {
  if (!TIMESTAMP.test(text)) return 'string';
  return CUT_TO_THE_MINUTE.test(text) ? 'timestamp to the minute' : 'timestamp';
}

function typeOfList(items: readonly unknown[]): string {
  const [first, ...others] = new Set(items.map(valueTypeOf));
  if (first === undefined) return 'empty list';
  return others.length === 0 ? `list of ${first}` : 'list';
}

function typeOfObject(value: object): string {
  const keys = Object.keys(value);
  return keys.length > MOST_KEYS ? 'object' : `{${keys.sort().map(keyText).join(', ')}}`;
}

/** A key is quoted when it could be read as several keys or would not be visible. */
function keyText(key: string): string {
  return /^(?! )[^,"{}\p{Cc}]+$/u.test(key) ? key : JSON.stringify(key);
}

/** The keys of a value type that names them, such as `{id, name}`. */
export function keysOfValueType(type: string): string[] {
  const words = type.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^, ][^,]*/gu) ?? [];
  return words.map((word) => (word.startsWith('"') ? (JSON.parse(word) as string) : word));
}

/** Null, absent and an empty list: they mean the same unless the rules say otherwise. */
export function isEmptyValueType(type: string): boolean {
  return type === ABSENT || type === 'null' || type === 'empty list';
}

export interface SchemaTally {
  rows: number;
  /** Field → value type → rows. */
  fields: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** A change of the tally: `<value type>\t<field>` → rows added or removed. The rows themselves are under `rows`. */
export type SchemaDelta = Map<string, number>;
export const ROWS = 'rows';

/** Distinct field names per list. A list with more uses people's data as keys. Real lists have a few hundred. */
export const MOST_FIELDS = 2_000;

/** The tracked field names of a list, first come, first tracked, up to the limit. */
export class TrackedFields {
  readonly #names: Set<string>;
  readonly #hadRoom: boolean;
  #refused = false;
  #reported = false;

  constructor({ fields }: SchemaTally) {
    this.#names = new Set(fields.keys());
    this.#hadRoom = this.#names.size < MOST_FIELDS;
  }

  /** Null: not all may be tracked. */
  get all(): ReadonlySet<string> | null {
    return this.#names.size < MOST_FIELDS ? this.#names : null;
  }

  has(field: string): boolean {
    return this.#names.has(field);
  }

  /** True for a tracked field. A new field is tracked from now on while there is room. */
  admits(field: string): boolean {
    if (this.#names.has(field)) return true;
    if (this.#names.size >= MOST_FIELDS) {
      this.#refused = true;
      return false;
    }
    this.#names.add(field);
    return true;
  }

  /** True once: after the first field was refused. */
  justFilled(): boolean {
    if (!this.#hadRoom || !this.#refused || this.#reported) return false;
    this.#reported = true;
    return true;
  }
}

/** The change of one record, from or to nothing when `rows` are added or removed. Untracked fields are left out. */
export function addToDelta(
  delta: SchemaDelta,
  { moves, rows, tracked }: { moves: readonly Transition[]; rows: -1 | 0 | 1; tracked: TrackedFields },
): void {
  const add = (name: string, by: number): void => {
    const sum = (delta.get(name) ?? 0) + by;
    if (sum === 0) delta.delete(name);
    else delta.set(name, sum);
  };
  for (const { field, from, to } of moves) {
    if (from !== ABSENT && tracked.has(field)) add(`${from}\t${field}`, -1);
    if (to !== ABSENT && tracked.admits(field)) add(`${to}\t${field}`, 1);
  }
  add(ROWS, rows);
}

export function schemaFrom(counters: Iterable<readonly [name: string, rows: number]>): SchemaTally {
  const fields = new Map<string, Map<string, number>>();
  let rows = 0;
  for (const [name, count] of counters) {
    if (name === ROWS) rows = count;
    const cut = name.indexOf('\t');
    if (cut === -1 || count <= 0) continue;
    const field = name.slice(cut + 1);
    const types = fields.get(field) ?? new Map<string, number>();
    fields.set(field, types.set(name.slice(0, cut), count));
  }
  return { rows, fields };
}

/** The value types of one field and how many rows have each, including rows without the key. */
export function valueTypesOfField(schema: SchemaTally, field: string): Record<string, number> {
  const types = Object.fromEntries(schema.fields.get(field) ?? []);
  const present = Object.values(types).reduce((sum, rows) => sum + rows, 0);
  const absent = schema.rows - present;
  return absent > 0 ? { ...types, [ABSENT]: absent } : types;
}

/** A schema as data for `changefeed schema`: fields by name, value types (`forms`) by frequency. */
export interface ListSchema {
  /** Rows that were counted. */
  rows: number;
  /** The share of rows that have each field, and its value types. */
  fields: { field: string; share: number; forms: { form: string; rows: number }[] }[];
}

export function listSchema({ rows, fields }: SchemaTally): ListSchema {
  const described = [...fields].map(([field, types]) => {
    const sorted = [...types].map(([form, count]) => ({ form, rows: count })).sort((a, b) => b.rows - a.rows);
    const present = sorted.reduce((sum, one) => sum + one.rows, 0);
    return { field, share: rows === 0 ? 0 : present / rows, forms: sorted };
  });
  return { rows, fields: described.sort((a, b) => (a.field < b.field ? -1 : 1)) };
}
