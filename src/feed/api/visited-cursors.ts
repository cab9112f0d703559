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

/**
 * Pages in a row without a new record after which the paging has no end. A list of any length shows new ones to its end; where rows are paged by
 * their number, and many are added before the page that is read, pages show again what others have shown.
 */
export const MOST_REPEATED_PAGES = 1_000;
/** Empty pages in a row after which the walk gives up. */
export const MOST_EMPTY_PAGES = 50;
/** Limit for all cursors of a walk together, which are kept in memory and in Redis: 1.6 million pages with 40 characters each. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

export interface VisitedStart {
  /** The key of the first page; null when the walk has not read it. */
  firstPage: string | null;
  /** Cursors that this walk has followed. */
  cursors: Iterable<string>;
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
  for (const row of rows) hash.update(`${idOrText(row)}\n`);
  return hash.digest('hex').slice(0, 32);
}

function idOrText({ id, record }: ReturnType<typeof rowsOf>[number]): string {
  return JSON.stringify(id ?? record);
}

export function createVisitedCursors({ firstPage, cursors }: VisitedStart) {
  const followed = new Set(cursors);
  let first = firstPage;
  let fresh: string[] = [];
  let characters = [...followed].reduce((sum, { length }) => sum + length, 0);
  let emptyInARow = 0;
  let repeatedInARow = 0;
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
    if (characters > MOST_CHARACTERS)
      throw loop(list, `the cursors of ${followed.size} pages are too long to be kept`, NO_END);
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
    /**
     * Counts pages in a row without a new record. A page that is as the last complete sweep read it does not count: there is an end to those.
     * @param isNew it shows a record that no page of this walk has shown @throws ChangefeedError CF_CURSOR_LOOP
     */
    shown(list: ListName, isNew: boolean): void {
      repeatedInARow = isNew ? 0 : repeatedInARow + 1;
      if (repeatedInARow < MOST_REPEATED_PAGES) return;
      const what = `${repeatedInARow} pages in a row showed no new record, and each named a next one`;
      throw loop(list, `${what}: the paging has no end`, NO_END);
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
  const seen = new Set<string>();
  let cursor: string | null = null;
  for (let number = 1; ; number += 1) {
    const page: Page = await api.fetchPage(list, { cursor, page: number, ...(signal && { signal }) });
    const next = visited.check(page, cursor);
    const before = seen.size;
    for (const row of rowsOf(page)) seen.add(idOrText(row));
    if (next !== null) visited.shown(list, seen.size > before);
    yield page;
    cursor = next;
    if (cursor === null) return;
  }
}
