/**
 * The form of a value: its type, said without anything that is in it. What the schema of a list is made of, and what a
 * schema event shows in place of people's data.
 */

/** The form of a key that is not there. */
export const ABSENT = 'absent';

/** Objects with more keys than this are maps rather than records: their keys may be data. */
const MOST_KEYS = 8;

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/u;

/** A server that begins to cut its times has changed their form, on all rows at once. */
const CUT_TO_THE_MINUTE = /T\d{2}:\d{2}(:00(\.0+)?)?[^:\d.]/u;

/** `null`, `boolean`, `number`, `string`, `timestamp`, `timestamp to the minute`, `{id, name}`, `list of {id, name}`, `empty list`, `list`, `object`. */
export function valueTypeOf(value: unknown): string {
  if (value === undefined) return ABSENT;
  if (value === null) return 'null';
  if (Array.isArray(value)) return formOfList(value);
  if (typeof value === 'object') return formOfObject(value);
  if (typeof value === 'string') return formOfText(value);
  return typeof value;
}

function formOfText(text: string): string {
  if (!TIMESTAMP.test(text)) return 'string';
  return CUT_TO_THE_MINUTE.test(text) ? 'timestamp to the minute' : 'timestamp';
}

function formOfList(items: readonly unknown[]): string {
  const [first, ...others] = new Set(items.map(valueTypeOf));
  if (first === undefined) return 'empty list';
  return others.length === 0 ? `list of ${first}` : 'list';
}

function formOfObject(value: object): string {
  const keys = Object.keys(value);
  return keys.length > MOST_KEYS ? 'object' : `{${keys.sort().map(keyText).join(', ')}}`;
}

/** Stands in quotes where it could be taken for several keys, or not be seen. */
function keyText(key: string): string {
  return /^(?! )[^,"{}\p{Cc}]+$/u.test(key) ? key : JSON.stringify(key);
}

/** The keys of a form that names them: `{id, name}`. */
export function keysOfValueType(form: string): string[] {
  const words = form.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^, ][^,]*/gu) ?? [];
  return words.map((word) => (word.startsWith('"') ? (JSON.parse(word) as string) : word));
}

/** Null, absent and an empty list: forms that mean the same unless the rules say otherwise. */
export function isEmptyValueType(form: string): boolean {
  return form === ABSENT || form === 'null' || form === 'empty list';
}
