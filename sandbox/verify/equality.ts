/**
 * When two images of a record are equal for scoring. This does not use the detector's code (`crm/canonical.ts`) on purpose:
 * shared code would hide a shared mistake. A property test compares the two.
 *
 * Not a difference: key order and the Unicode composition of keys, the order of refs in a set, null against absent against an
 * empty list, the query of a picture's URL, the name of a ref (it belongs to what is referred to), the change stamp alone,
 * and which of two spellings a todo's field has.
 */
import type { CrmRecord } from '../../src/crm/record.js';

const STAMPS: ReadonlySet<string> = new Set(['수정 날짜', 'updatedAt']);
const PICTURE = '프로필 사진';
/** Other spellings of a todo's fields in real answers. */
const WRITTEN_NAME: Readonly<Record<string, string>> = {
  시작일: '시작 날짜',
  종료일: '마지막 날짜',
  완료일: '완료 날짜',
  제목: '내용',
};

export interface Equality {
  /** Fields that are not compared, because they changed on all rows at once. */
  readonly ignore: ReadonlySet<string>;
  /** Whether the names inside references are compared. */
  readonly refNames: 'ignored' | 'compared';
}

/** A text that is the same for two images exactly when they are equal. Null for a record that does not exist. */
export function contentText(record: CrmRecord | null, { ignore, refNames }: Equality): string | null {
  if (record === null) return null;
  const fields = new Map<string, unknown>();
  for (const [key, value] of Object.entries(record)) {
    const name = key.normalize('NFC');
    if (isEmpty(value) || STAMPS.has(name) || ignore.has(name)) continue;
    const written = WRITTEN_NAME[name] ?? name;
    // If a record has both spellings, the written one counts.
    if (written !== name && !isEmpty(record[written])) continue;
    fields.set(written, name === PICTURE && typeof value === 'string' ? value.split(/[?#]/u, 1)[0] : value);
  }
  return JSON.stringify(entriesOf(fields, refNames));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Lists and objects are tagged, so that a list of pairs does not equal an object. */
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

/** Of two keys that are one in composed form, the last counts. */
function entriesOf(entries: Iterable<readonly [string, unknown]>, refNames: Equality['refNames']): string[] {
  const byName = new Map([...entries].map(([name, each]) => [name.normalize('NFC'), each]));
  return [...byName].map(([name, each]) => JSON.stringify([name, plain(each, refNames)])).sort();
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

/** An object with exactly an id and a name. */
function isNamedRef(value: object): value is Ref {
  return isRef(value) && 'name' in value && Object.keys(value).length === 2;
}
