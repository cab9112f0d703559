/**
 * When two images of a record are equal for scoring. This does not use the detector's code (`crm/canonical.ts`) on purpose:
 * shared code would hide a shared mistake. A property test compares the two.
 *
 * Not a difference: key order and the Unicode composition of keys (unless a record has a key in both forms), the order of refs
 * in a set, null against absent against an empty list, how an instant is written, the signature of a link, the name of a ref (it
 * belongs to what is referred to), the change stamp alone, and which of two spellings a todo's field has.
 */
import type { CrmRecord } from '../../src/crm/record.js';

const STAMPS: ReadonlySet<string> = new Set(['수정 날짜', 'updatedAt']);
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
  const isTwin = twinsAmong(Object.keys(record));
  for (const [key, value] of Object.entries(record)) {
    const name = key.normalize('NFC');
    if (isEmpty(value) || STAMPS.has(name) || ignore.has(name)) continue;
    const written = WRITTEN_NAME[name] ?? name;
    // If a record has both spellings, the written one counts.
    if (written !== name && !isEmpty(record[written])) continue;
    fields.set(isTwin(key) ? key : written, value);
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
    return value.every(isRef) || value.every((each) => typeof each === 'string')
      ? ['set', ...items.map((each) => JSON.stringify(each)).sort()]
      : ['list', ...items];
  }
  if (typeof value === 'string') return spoken(value);
  if (typeof value !== 'object' || value === null) return value;
  if (refNames === 'ignored' && isNamedRef(value)) return ['ref', value.id ?? value._id];
  const present = Object.entries(value).filter(([, each]) => !isEmpty(each));
  return ['object', ...entriesOf(present, refNames)];
}

function entriesOf(entries: Iterable<readonly [string, unknown]>, refNames: Equality['refNames']): string[] {
  const all = [...entries];
  const isTwin = twinsAmong(all.map(([key]) => key));
  const hasTwins = all.some(([key]) => isTwin(key));
  return all
    .map(([key, each]) => JSON.stringify([hasTwins ? key : key.normalize('NFC'), plain(each, refNames)]))
    .sort();
}

/** Another key has the same name in the other Unicode form. */
function twinsAmong(keys: readonly string[]): (key: string) => boolean {
  const decomposed = keys.map((key) => key.normalize('NFD'));
  const count = (name: string): number => decomposed.filter((one) => one === name).length;
  if (new Set(decomposed).size === keys.length) return () => false;
  return (key) => count(key.normalize('NFD')) > 1;
}

const SIGNING: ReadonlySet<string> = new Set(
  'signature sig token expires policy key-pair-id x-signature x-expires se sp sv sr st'.split(' '),
);

/** A time as its instant, a link without what signs it; of the forms that the sandbox and its tests write. */
function spoken(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/u.test(text)) return `instant ${Date.parse(text)}`;
  return text.replace(/\?[^\s"<]*/gu, (query) => {
    const parts = query.slice(1).split('&');
    const isSigning = (part: string): boolean => {
      const [name = ''] = part.toLowerCase().split('=');
      return SIGNING.has(name) || name.startsWith('x-amz-');
    };
    const rest = parts.filter((part) => !isSigning(part));
    return parts.length - rest.length < 2 ? query : rest.length === 0 ? '' : `?${rest.join('&')}`;
  });
}

interface IdReference {
  readonly id?: unknown;
  readonly _id?: unknown;
}

function isRef(value: unknown): value is IdReference {
  if (typeof value !== 'object' || value === null) return false;
  const { id, _id } = value as IdReference;
  return typeof id === 'string' || typeof _id === 'string';
}

/** An object with exactly an id and a name. */
function isNamedRef(value: object): value is IdReference {
  return isRef(value) && 'name' in value && Object.keys(value).length === 2;
}
