/**
 * Takes records that are too long to be compared out of a page before it is parsed: parsing 60 MB with two million fields takes longer than a
 * lease lasts. Reads brackets and strings only. What is no JSON is left to the parser.
 */
import type { UncheckedRecord } from '../crm/record.js';
import type { UnreadableRecord } from './unreadable.js';

/**
 * Characters of JSON: as much as is committed in one step (sweep/classify/page-parts.ts). An event has the text of a record up to four times. A record of
 * 60 MB took 1.4 GB and, with two million fields, more than the lease.
 */
export const LONGEST_RECORD = 4 * 1024 * 1024;

/** The only field of the record that stands in place of one that is too long. */
const PLACE = '\u0000place of a long record';

export interface WithoutLong {
  json: string;
  /** What is wrong with the record that stood in the place of this one; null when it stands for no other. */
  longAt: (record: UncheckedRecord) => UnreadableRecord | null;
}

/** `{` the answer, `{` its data, `[` a list, `{` a record. */
const RECORD_LEVEL = 4;

export function withoutLongRecords(json: string): WithoutLong {
  const long: UnreadableRecord[] = [];
  const longAt: WithoutLong['longAt'] = (record) => long[Number(record[PLACE])] ?? null;
  if (json.length <= LONGEST_RECORD) return { json, longAt };
  const kept: string[] = [];
  let [level, start, copied] = [0, 0, 0];
  let id: string | null = null;
  const tokens = /[{}[\]"]/g;
  for (let token = tokens.exec(json); token !== null; token = tokens.exec(json)) {
    const { 0: sign, index } = token;
    if (sign === '"') {
      tokens.lastIndex = endOfString(json, index);
      if (level === RECORD_LEVEL) id ??= idAt(json, { from: index, to: tokens.lastIndex });
    } else if (sign === '{' || sign === '[') {
      level += 1;
      if (level === RECORD_LEVEL) [start, id] = [index, null];
    } else {
      const length = index + 1 - start;
      if (level === RECORD_LEVEL && length > LONGEST_RECORD) {
        kept.push(json.slice(copied, start), JSON.stringify({ [PLACE]: long.length }));
        long.push({ id, reason: `it has ${length} characters of JSON; at most ${LONGEST_RECORD} can be compared` });
        copied = index + 1;
      }
      level -= 1;
    }
  }
  return { json: kept.length === 0 ? json : [...kept, json.slice(copied)].join(''), longAt };
}

/** Behind the closing quote; the end of the text where there is none. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json[at - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return json.length;
}

/** The value behind the name `id`, if it is a string; null for any other text of a record. */
function idAt(json: string, { from, to }: { from: number; to: number }): string | null {
  if (to - from !== '"id"'.length || !json.startsWith('"id"', from)) return null;
  const value = /\s*:\s*(?=")/y;
  value.lastIndex = to;
  if (!value.test(json)) return null;
  try {
    return JSON.parse(json.slice(value.lastIndex, endOfString(json, value.lastIndex))) as string;
  } catch {
    return null;
  }
}
