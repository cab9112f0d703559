/**
 * Detects a walk that cannot be complete: a cursor that repeats, the first page in place of a later one (the real API
 * answers an expired cursor with the first page), or cursors without end. Its state is plain data, so a sweep can store it.
 */
import { createHash } from 'node:crypto';
import { ChangefeedError } from '../errors.js';
import type { ListName } from '../crm/lists/lists.js';
import type { Page, ReadApi } from './read-api.js';

/**
 * Millions of records. A sweep of so many pages takes more than 80 minutes at the 10 requests per second that the API allows, so no list
 * that can be polled has them; a server that always names one more page has.
 */
export const MOST_PAGES = 50_000;
/** Of all cursors of a walk together, which are kept in memory and in Redis. 1,300 for each page. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

export interface VisitedStart {
  /** The key of the first page; null when the walk has not read it. */
  firstPage: string | null;
  /** Cursors that this walk has followed. */
  cursors: Iterable<string>;
}

export type VisitedCursors = ReturnType<typeof createVisitedCursors>;

/** A page that an earlier walk has read. */
export interface KnownPage {
  cursor: string | null;
  nextCursor: string | null;
  /** Identifies the first page; null for any other. */
  firstPage: string | null;
}

/** Identifies a first page by the ids of its records, or by the text of a record without an id. Null for an empty page. */
export function firstPageKey({ records }: Page): string | null {
  if (records.length === 0) return null;
  const hash = createHash('sha256');
  for (const record of records) hash.update(`${JSON.stringify(record['id'] ?? record)}\n`);
  return hash.digest('hex').slice(0, 32);
}

export function createVisitedCursors({ firstPage, cursors }: VisitedStart) {
  const followed = new Set(cursors);
  let first = firstPage;
  let fresh: string[] = [];
  let characters = [...followed].reduce((sum, { length }) => sum + length, 0);
  const follow = (list: ListName, cursor: string | null, nextCursor: string | null): void => {
    if (cursor !== null) followed.add(cursor);
    if (nextCursor === null) return;
    if (followed.has(nextCursor)) throw loop(list, 'a page pointed back to a cursor already followed');
    followed.add(nextCursor);
    characters += nextCursor.length;
    // The first page has no cursor.
    if (followed.size >= MOST_PAGES || characters > MOST_CHARACTERS)
      throw loop(list, `after ${followed.size} pages there was still a next one: the paging has no end`);
    fresh.push(nextCursor);
  };
  return {
    /** The first page's key; null before it was seen, or when it was empty. */
    get firstPage() {
      return first;
    },
    /**
     * Records a page and the cursor it was requested with (null for the first page).
     * @throws ChangefeedError CF_CURSOR_LOOP
     */
    check(page: Page, cursor: string | null): void {
      if (cursor === null) first = firstPageKey(page);
      else if (first !== null && firstPageKey(page) === first) {
        throw loop(page.list, 'the first page came again in place of a later one');
      }
      follow(page.list, cursor, page.nextCursor);
    },
    /**
     * The same for a page that is as it was in an earlier walk.
     * @throws ChangefeedError CF_CURSOR_LOOP
     */
    checkKnown(list: ListName, { cursor, nextCursor, firstPage: known }: KnownPage): void {
      if (cursor === null) first = known;
      follow(list, cursor, nextCursor);
    },
    /** The cursors followed since the last call. */
    takeFollowed(): string[] {
      const taken = fresh;
      fresh = [];
      return taken;
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
 * All pages of a list from the first to the end. Each page is checked before it is returned.
 * @throws ChangefeedError the errors of `fetchPage`, and CF_CURSOR_LOOP
 */
export async function* walkList(
  api: Pick<ReadApi, 'fetchPage'>,
  list: ListName,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<Page, void, undefined> {
  const visited = createVisitedCursors({ firstPage: null, cursors: [] });
  let cursor: string | null = null;
  for (let number = 1; ; number += 1) {
    const page: Page = await api.fetchPage(list, { cursor, page: number, ...(signal && { signal }) });
    visited.check(page, cursor);
    yield page;
    cursor = page.nextCursor;
    if (cursor === null) return;
  }
}
