/**
 * Says where a list ends: where no cursor is named, or at an empty page that names a cursor already followed. Other
 * empty pages may have rows filtered after paging. Detects walks that cannot be complete: the real API answers an
 * expired cursor with the first page. The state is plain data, so a sweep can store it.
 */
import { createHash } from 'node:crypto';
import { ChangefeedError } from '../../kit/errors.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { Page, ReadApi } from './read-api.js';
import { rowsOf } from './rows.js';

/** More than 80 minutes at 10 requests per second: only a server that always names one more page has so many. */
export const MOST_PAGES = 50_000;
/** A list does not grow to three times its pages between two sweeps; a small one may gain a thousand. */
const growthOf = (pages: number): number => 3 * pages + 1_000;
/** Empty pages in a row after which the walk gives up. */
export const MOST_EMPTY_PAGES = 50;
/** Of all cursors of a walk together, which are kept in memory and in Redis. 1,300 for each page. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

export interface VisitedStart {
  /** The key of the first page; null when the walk has not read it. */
  firstPage: string | null;
  /** Cursors that this walk has followed. */
  cursors: Iterable<string>;
  /** Pages of the last complete sweep of this source. @defaultValue unknown: only `MOST_PAGES` bounds the walk */
  lastPages?: number | undefined;
}

export type VisitedCursors = ReturnType<typeof createVisitedCursors>;

interface NextPage {
  nextCursor: string | null;
  records: number;
}

export interface WalkedPage extends NextPage {
  cursor: string | null;
  /** Identifies the first page; null for any other. */
  firstPage: string | null;
}

/** Identifies a first page by its records' ids, or the text of one without an id. Null for an empty page. */
export function firstPageKey(page: Page): string | null {
  const rows = rowsOf(page);
  if (rows.length === 0) return null;
  const hash = createHash('sha256');
  for (const row of rows) hash.update(`${JSON.stringify(row.id ?? row.record)}\n`);
  return hash.digest('hex').slice(0, 32);
}

export function createVisitedCursors({ firstPage, cursors, lastPages }: VisitedStart) {
  const most = Math.min(MOST_PAGES, lastPages === undefined ? MOST_PAGES : growthOf(lastPages));
  const followed = new Set(cursors);
  let first = firstPage;
  let fresh: string[] = [];
  let characters = [...followed].reduce((sum, { length }) => sum + length, 0);
  let emptyInARow = 0;
  const follow = (list: ListName, cursor: string | null, { nextCursor, records }: NextPage): string | null => {
    if (cursor !== null) followed.add(cursor);
    if (nextCursor === null) return null;
    emptyInARow = records === 0 ? emptyInARow + 1 : 0;
    if (followed.has(nextCursor)) {
      if (records === 0) return null;
      throw loop(list, 'a page pointed back to a cursor already followed');
    }
    if (emptyInARow >= MOST_EMPTY_PAGES)
      throw loop(list, `${emptyInARow} empty pages in a row each named a next one`, NO_END);
    followed.add(nextCursor);
    characters += nextCursor.length;
    // The first page has no cursor.
    if (followed.size >= most || characters > MOST_CHARACTERS)
      throw loop(list, `after ${followed.size} pages there was still a next one: the paging has no end`, NO_END);
    fresh.push(nextCursor);
    return nextCursor;
  };
  return {
    /** The first page's key; null before it was seen, or when it was empty. */
    get firstPage() {
      return first;
    },
    /** @returns the cursor of the next page; null where the list ends. @throws ChangefeedError CF_CURSOR_LOOP */
    check(page: Page, cursor: string | null): string | null {
      if (cursor === null) first = firstPageKey(page);
      else if (first !== null && firstPageKey(page) === first) {
        throw loop(page.list, 'the first page came again in place of a later one');
      }
      return follow(page.list, cursor, {
        nextCursor: page.nextCursor,
        records: rowsOf(page).length + (page.unreadable?.length ?? 0),
      });
    },
    /** The same for a page that is as it was in an earlier walk. */
    checkKnown(list: ListName, { cursor, firstPage: known, ...next }: WalkedPage): string | null {
      if (cursor === null) first = known;
      return follow(list, cursor, next);
    },
    takeFollowed(): string[] {
      const taken = fresh;
      fresh = [];
      return taken;
    },
  };
}

const NO_END =
  ' If the list is right, report its paging to the operator of the API, or disable the list (lists.<list>.enabled).';

function loop(list: ListName, what: string, remedy = ''): ChangefeedError {
  return new ChangefeedError('CF_CURSOR_LOOP', {
    list,
    message: `List "${list}": ${what}. This walk cannot be complete and says nothing about removals; the next one starts at the first page.${remedy}`,
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
    const next = visited.check(page, cursor);
    yield page;
    cursor = next;
    if (cursor === null) return;
  }
}
