/**
 * Notices a walk that cannot be complete: a cursor that comes again, or the first page answering for a later one (a
 * cursor the API no longer knows is answered so in the wild). What it remembers is plain data, so a sweep can persist it.
 */
import { createHash } from 'node:crypto';
import { ChangefeedError } from '../errors.js';
import type { ListName } from '../crm/lists/lists.js';
import type { Page, ReadApi } from './read-api.js';

export interface TrailStart {
  /** The first page's key, when the walk has been there. */
  firstPage: string | null;
  /** Cursors that this walk has followed. */
  cursors: Iterable<string>;
}

export interface Trail {
  /** The first page's key; null before it was seen, or when it was empty. */
  readonly firstPage: string | null;
  /**
   * Takes note of a page and the cursor that brought it (null for the first).
   * @throws ChangefeedError CF_CURSOR_LOOP
   */
  check(page: Page, cursor: string | null): void;
}

/** What identifies a first page: its records' ids, or their text where one has no id. Null for an empty page. */
export function firstPageKey({ records }: Page): string | null {
  if (records.length === 0) return null;
  const hash = createHash('sha256');
  for (const record of records) hash.update(`${JSON.stringify(record['id'] ?? record)}\n`);
  return hash.digest('hex').slice(0, 32);
}

export function createTrail({ firstPage, cursors }: TrailStart): Trail {
  const followed = new Set(cursors);
  const trail = { firstPage };
  return {
    get firstPage() {
      return trail.firstPage;
    },
    check(page, cursor) {
      if (cursor === null) trail.firstPage = firstPageKey(page);
      else if (trail.firstPage !== null && firstPageKey(page) === trail.firstPage) {
        throw loop(page.list, 'the first page came again in place of a later one');
      }
      if (cursor !== null) followed.add(cursor);
      if (page.nextCursor === null) return;
      if (followed.has(page.nextCursor)) throw loop(page.list, 'a page pointed back to a cursor already followed');
      followed.add(page.nextCursor);
    },
  };
}

function loop(list: ListName, what: string): ChangefeedError {
  return new ChangefeedError('CF_CURSOR_LOOP', {
    list,
    message: `List "${list}": ${what}. This walk cannot be complete and says nothing about removals; the next one starts at the first page.`,
  });
}

/**
 * All pages of a list from the first to the end, each checked before it is given out.
 * @throws ChangefeedError whatever `fetchPage` throws, and CF_CURSOR_LOOP
 */
export async function* walkList(
  api: Pick<ReadApi, 'fetchPage'>,
  list: ListName,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<Page, void, undefined> {
  const trail = createTrail({ firstPage: null, cursors: [] });
  let cursor: string | null = null;
  for (let number = 1; ; number += 1) {
    const page: Page = await api.fetchPage(list, { cursor, page: number, ...(signal && { signal }) });
    trail.check(page, cursor);
    yield page;
    cursor = page.nextCursor;
    if (cursor === null) return;
  }
}
