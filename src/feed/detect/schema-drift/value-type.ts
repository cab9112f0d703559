/** The type of a value, without its contents: schema events show it in place of people's data. */
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
