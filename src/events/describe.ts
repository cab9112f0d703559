/** An event in words, the same everywhere. Each screen shortens and escapes in its own way. Pure. */
import type { UncheckedRecord } from '../crm/record.js';
import { nameIn } from '../words/format.js';
import type { ChangeEvent } from './types.js';

/** The fields that tell a person which record this is, in this order. */
const TITLE_FIELDS = ['이름', '제목', '내용', 'name', 'title', 'text', 'fieldName', 'type'] as const;
/** More than any screen shows of a title: a text of megabytes is not searched for spaces. */
const MOST_READ = 1_000;

/**
 * On one line; null where the record says nothing. A row of a history: `담당자: 이가상`, a field and its new value.
 * @param textOf of that value
 */
export function titleOfRecord(record: UncheckedRecord, textOf = textOfValue): string | null {
  for (const field of TITLE_FIELDS) {
    const text = onOneLine(textOfValue(record[field]));
    if (text === '') continue;
    const became = field === 'fieldName' ? onOneLine(textOf(record['fieldValue'])) : '';
    return became === '' ? text : `${text}: ${became}`;
  }
  return null;
}

function onOneLine(text: string | null): string {
  return text?.slice(0, MOST_READ).replace(/\s+/g, ' ').trim() ?? '';
}

/** The title of the record after the change, or of the last one of a deleted record; null for the feed's own events. */
export function titleOfEvent({ data: { before, after } }: ChangeEvent, textOf = textOfValue): string | null {
  const record = after ?? before;
  return record === null ? null : titleOfRecord(record, textOf);
}

/** `person` and `schema_changed` of `crm.person.schema_changed`. */
export function wordsOfType(type: string): { object: string; verb: string } {
  const [, object = '', ...verb] = type.split('.');
  return { object, verb: verb.join('.') };
}

/** A reference by its name, other objects as JSON; null where there is no value. */
export function textOfValue(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map((one) => textOfValue(one) ?? '—').join(', ');
  return nameIn(value) ?? JSON.stringify(value);
}

/** Characters of equal text that are kept around a difference. */
const CONTEXT = 4;

/** Drops what both texts share at their ends, but for a few characters, which show where the difference is. */
export function differingParts(before: string, after: string, context = CONTEXT): [before: string, after: string] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const part = (text: string): string => {
    const from = atCharacter(text, head - context);
    const to = atCharacter(text, text.length - tail + context);
    return `${from > 1 ? '…' : ''}${text.slice(from > 1 ? from : 0, to)}${to < text.length ? '…' : ''}`;
  };
  return [part(before), part(after)];
}

/** Not between the two halves of a character that takes two places in a string. */
function atCharacter(text: string, index: number): number {
  const at = Math.min(Math.max(index, 0), text.length);
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}
