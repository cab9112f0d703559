/**
 * When two images of a record say the same. Written apart from the detector's own rules on purpose: a judge that
 * shared code with the judged would share its mistakes. A property test holds the two together.
 *
 * Not a difference: key order and the Unicode composition of keys, the order of refs in a set, null against absent against an
 * empty list, the query of a picture's URL, the name of a ref (it belongs to what is referred to), the change stamp alone,
 * and which of two spellings a todo's field has.
 */
import type { CrmRecord } from '../../crm/record.js';

const STAMPS: ReadonlySet<string> = new Set(['수정 날짜', 'updatedAt']);
const PICTURE = '프로필 사진';
/** Names seen in the wild for a todo's written fields. */
const WRITTEN_NAME: Readonly<Record<string, string>> = {
  시작일: '시작 날짜',
  종료일: '마지막 날짜',
  완료일: '완료 날짜',
  제목: '내용',
};

export interface Equality {
  /** Fields left out of every comparison: those that drifted on all rows. */
  readonly ignore: ReadonlySet<string>;
  /** Do the names inside refs count? */
  readonly refNames: 'ignored' | 'compared';
}

/** A text that is equal for two images exactly when they say the same. Null for a record that is not there. */
export function contentText(record: CrmRecord | null, { ignore, refNames }: Equality): string | null {
  if (record === null) return null;
  const fields = new Map<string, unknown>();
  for (const [key, value] of Object.entries(record)) {
    const name = key.normalize('NFC');
    if (isEmpty(value) || STAMPS.has(name) || ignore.has(name)) continue;
    const written = WRITTEN_NAME[name] ?? name;
    // With both spellings side by side the written one speaks.
    if (written !== name && !isEmpty(record[written])) continue;
    fields.set(written, name === PICTURE && typeof value === 'string' ? value.split(/[?#]/u, 1)[0] : value);
  }
  return JSON.stringify(entriesOf(fields, refNames));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Lists and objects are tagged: a list of pairs is no object. */
function plain(value: unknown, refNames: Equality['refNames']): unknown {
  if (isEmpty(value)) return null;
  if (Array.isArray(value)) {
    const items = value.map((each) => plain(each, refNames));
    return value.every(isRef) ? ['set', ...items.map((each) => JSON.stringify(each)).sort()] : ['list', ...items];
  }
  if (typeof value !== 'object' || value === null) return value;
  if (refNames === 'ignored' && isNamedRef(value)) return ['ref', value.id ?? value._id];
  const present = Object.entries(value).filter(([, each]) => !isEmpty(each));
  return ['object', ...entriesOf(present, refNames)];
}

function entriesOf(entries: Iterable<readonly [string, unknown]>, refNames: Equality['refNames']): string[] {
  return [...entries].map(([name, each]) => JSON.stringify([name.normalize('NFC'), plain(each, refNames)])).sort();
}

interface Ref {
  readonly id?: unknown;
  readonly _id?: unknown;
}

function isRef(value: unknown): value is Ref {
  if (typeof value !== 'object' || value === null) return false;
  const { id, _id } = value as Ref;
  return typeof id === 'string' || typeof _id === 'string';
}

/** An id and a name, and nothing else. */
function isNamedRef(value: object): value is Ref {
  return isRef(value) && 'name' in value && Object.keys(value).length === 2;
}
