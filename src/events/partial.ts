/**
 * Reads of an event only what decides about it: most of it is the record before and after. What separates fields in JSON is ASCII, and is part
 * of no other character, so bytes are compared.
 */
import type { ChangeEvent } from './types.js';

/** How an event that this release writes begins; `after` and `changes` follow `before`. */
const HEAD =
  /^\{"specversion":"1\.0"(?:,"(?:id|source|type|subject|time|datacontenttype)":"[^"\\]*")+,"data":\{"before":/;
const LONGEST_HEAD = 600;
const NEW = Buffer.from('null,"after":');
const AFTER = Buffer.from(',"after":');
const CHANGES = Buffer.from(',"changes":[');

/** The names of fields, under NFC; a name may lead into a reference, and `''` means all of them. */
export interface AskedFields {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Where they have changed, and in a new record. */
  readonly changes: readonly string[];
}

/**
 * @returns an event without the fields of its record that are not asked for; null for one to be read whole: it is in another form, or the record
 * lacks such a field, or names it in another composition
 */
export function createPartialReader({ before, after, changes }: AskedFields): (bytes: Buffer) => ChangeEvent | null {
  if (before.length > 0) return () => null;
  const [ofOld, ofNew] = [readsFields(after), readsFields([...after, ...changes])];
  return (bytes) => {
    const [head] = HEAD.exec(bytes.toString('latin1', 0, LONGEST_HEAD)) ?? [];
    const end = bytes.lastIndexOf(CHANGES);
    if (head === undefined || bytes[end - 1] !== END) return null;
    const isNew = isAt(bytes, head.length, NEW);
    if (!isNew && bytes[head.length] !== OPEN) return null;
    const from = isNew
      ? head.length + NEW.length
      : after.length === 0
        ? end
        : bytes.lastIndexOf(AFTER, end) + AFTER.length;
    const fields = (isNew ? ofNew : ofOld)(bytes, { from, end });
    if (fields === null) return null;
    const kept = `${bytes.toString('utf8', 0, head.length)}${isNew ? 'null' : '{}'},"after":{${fields}}`;
    try {
      return JSON.parse(`${kept}${bytes.toString('utf8', end)}`) as ChangeEvent;
    } catch {
      // These were the `changes` of something within the event.
      return null;
    }
  };
}

type ReadFields = (bytes: Buffer, image: { from: number; end: number }) => string | null;

function readsFields(names: readonly string[]): ReadFields {
  if (names.length === 0) return () => '';
  if (names.some((name) => name === '' || name.includes('.'))) return () => null;
  const wanted = [...new Set(names)].map((name) => Buffer.from(JSON.stringify(name)));
  return (bytes, { from, end }) => {
    const kept: string[] = [];
    let at = from + 1;
    while (bytes[at] === QUOTE) {
      const colon = endOfString(bytes, at);
      const next = endOfValue(bytes, colon + 1);
      const isWanted = wanted.some((name) => name.length === colon - at && isAt(bytes, at, name));
      if (isWanted) kept.push(bytes.toString('utf8', at, next));
      at = bytes[next] === COMMA ? next + 1 : next;
    }
    // Where it ends elsewhere, it is not the record.
    return at + 1 === end && kept.length === wanted.length ? kept.join() : null;
  };
}

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, END_LIST, OPEN, END] = [34, 44, 91, 92, 93, 123, 125];

function isAt(bytes: Buffer, from: number, wanted: Buffer): boolean {
  for (let at = 0; at < wanted.length; at += 1) if (bytes[from + at] !== wanted[at]) return false;
  return true;
}

function endOfValue(bytes: Buffer, from: number): number {
  if (bytes[from] === QUOTE) return endOfString(bytes, from);
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const code = bytes[at];
    if (code === QUOTE) at = endOfString(bytes, at) - 1;
    else if (code === OPEN || code === OPEN_LIST) depth += 1;
    else if (depth === 0 && (code === COMMA || code === END)) return at;
    else if (code === END || code === END_LIST) depth -= 1;
  }
  return bytes.length;
}

function endOfString(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}
