/**
 * When two images of a record say the same. Written apart from the detector's own rules on purpose: a judge that
 * shared code with the judged would share its mistakes.
 *
 * Not a difference: key order, the order of refs in a set, null against absent, the query of a picture's URL, the name
 * of a ref (it belongs to what is referred to), the change stamp alone, and which of two spellings a todo's field has.
 */
import type { CrmRecord } from '../../events/types.js';

const STAMPS: ReadonlySet<string> = new Set(['수정 날짜', 'updatedAt']);
const PICTURE = '프로필 사진';
/** Names seen in the wild for a todo's written fields. */
const WRITTEN_NAME: Readonly<Record<string, string>> = {
  시작일: '시작 날짜',
  종료일: '마지막 날짜',
  완료일: '완료 날짜',
  제목: '내용',
};

export interface Sameness {
  /** Fields left out of every comparison: those that drifted on all rows. */
  readonly ignore: ReadonlySet<string>;
  /** Do the names inside refs count? */
  readonly refNames: 'ignored' | 'compared';
}

/** A text that is equal for two images exactly when they say the same. Null for a record that is not there. */
export function essence(record: CrmRecord | null, { ignore, refNames }: Sameness): string | null {
  if (record === null) return null;
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(record)) {
    if (value === null || value === undefined || STAMPS.has(name) || ignore.has(name)) continue;
    const written = WRITTEN_NAME[name] ?? name;
    // With both spellings side by side the written one speaks.
    if (written !== name && record[written] !== undefined && record[written] !== null) continue;
    fields.set(written, name === PICTURE && typeof value === 'string' ? value.split('?', 1)[0] : value);
  }
  return JSON.stringify([...fields.entries()].sort(byName).map(([name, value]) => [name, plain(value, refNames)]));
}

function plain(value: unknown, refNames: Sameness['refNames']): unknown {
  if (Array.isArray(value)) {
    const items = value.map((each) => plain(each, refNames));
    return value.length > 0 && value.every(isRef) ? items.map((each) => JSON.stringify(each)).sort() : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (isRef(value) && refNames === 'ignored') return { ref: value['id'] ?? value['_id'] };
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return entries.sort(byName).map(([name, each]) => [name, plain(each, refNames)]);
}

function isRef(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const { length } = Object.keys(value);
  return length === 2 && 'name' in value && ('id' in value || '_id' in value);
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
