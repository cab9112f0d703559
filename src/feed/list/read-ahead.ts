/**
 * Requests pages ahead of the walk, with the last complete sweep's cursors. An answer counts only if the page
 * before it names the same cursor; otherwise the requests under way are dropped. The number ahead doubles with each
 * page that fits, and is one after a miss: a server with new cursors in each sweep wastes at most one per page.
 */
import type { FetchedPage, KnownPage } from '../api/read-api.js';
import type { Clock } from '../../kit/clock.js';
import { NOT_RECOGNISED, type StoredPage } from '../store/sweep-state.js';

export interface PageToRead {
  /** Number of the page within the sweep, from 1. */
  page: number;
  cursor: string | null;
}

export interface ReadAheadOptions {
  fetch: (request: PageToRead & KnownPage & { signal: AbortSignal }) => Promise<FetchedPage>;
  /** Pages of the last complete sweep; null where there is none. */
  stored: (from: number, count: number) => Promise<(StoredPage | null)[]>;
  /** Whether cursors of the last complete sweep are young enough to be used before this sweep names them. */
  usable: () => boolean;
  /** The most pages requested ahead; 0 requests each page when it is read. */
  most: number;
  clock: Clock;
}

export interface ReadPage {
  fetched: FetchedPage;
  /** The page as the last complete sweep read it, if it was requested with the same cursor. */
  known: StoredPage | null;
  /** When it was requested, ms since the epoch. */
  askedAtMs: number;
}

/** Stored pages are read from Redis by this many. */
const CHUNK = 64;

interface Request {
  cursor: string | null;
  answer: Promise<{ fetched: FetchedPage; askedAtMs: number }>;
  drop: AbortController;
}

export type ReadAhead = ReturnType<typeof createReadAhead>;

export function createReadAhead(options: ReadAheadOptions) {
  const { stored, usable, most } = options;
  const requests = new Map<number, Request>();
  let chunk: { from: number; pages: (StoredPage | null)[] } = { from: 1, pages: [] };
  let ahead = Math.min(1, most);

  const storedPage = async (page: number): Promise<StoredPage | null> => {
    if (page < chunk.from || page >= chunk.from + chunk.pages.length)
      chunk = { from: page, pages: await stored(page, CHUNK) };
    return chunk.pages[page - chunk.from] ?? null;
  };
  const request = (wanted: PageToRead, known: StoredPage | null): Request => {
    const made = makeRequest(options, wanted, known);
    requests.set(wanted.page, made);
    return made;
  };
  const dropAll = (): void => {
    for (const { drop } of requests.values()) drop.abort(new Error('The walk goes on at another cursor.'));
    requests.clear();
  };
  const requestAhead = async (from: number, before: StoredPage): Promise<void> => {
    let last = before;
    for (let page = from; page < from + ahead; page++) {
      const next = await storedPage(page);
      if (next === null || next.cursor === null || next.cursor !== last.nextCursor) return;
      if (!requests.has(page)) request({ page, cursor: next.cursor }, next);
      last = next;
    }
  };
  return {
    /** @throws the error of the request */
    async read({ page, cursor }: PageToRead): Promise<ReadPage> {
      const ready = requests.get(page);
      const fits = ready?.cursor === cursor;
      if (!fits) dropAll();
      if (most > 0) ahead = fits ? Math.min(most, 2 * ahead) : 1;
      const known = ifSame(await storedPage(page), cursor);
      const reading = ready !== undefined && fits ? ready : request({ page, cursor }, known);
      if (known !== null && usable()) await requestAhead(page + 1, known);
      const answer = await reading.answer;
      requests.delete(page);
      return { ...answer, known };
    },
    /** The walk goes on here: the page is requested now, while the one before is still classified. */
    expect({ page, cursor }: PageToRead): void {
      if (most === 0 || requests.get(page)?.cursor === cursor) return;
      dropAll();
      request({ page, cursor }, chunk.pages[page - chunk.from] ?? null);
    },
    /** A shortcut has written records of the page: it is recognised no longer. */
    forget(page: number): void {
      const known = chunk.pages[page - chunk.from];
      if (known != null) chunk.pages[page - chunk.from] = { ...known, digest: NOT_RECOGNISED };
    },
    close: dropAll,
  };
}

function makeRequest(
  { fetch, clock }: ReadAheadOptions,
  { page, cursor }: PageToRead,
  known: StoredPage | null,
): Request {
  const drop = new AbortController();
  const { digest: knownDigest, records: knownRecords } = ifSame(known, cursor) ?? {};
  const asked = fetch({ page, cursor, knownDigest, knownRecords, signal: drop.signal });
  const askedAtMs = clock.now();
  const answer = asked.then((fetched) => ({ fetched, askedAtMs }));
  // A dropped request fails, and nothing waits for it.
  answer.catch(() => undefined);
  return { cursor, answer, drop };
}

function ifSame(page: StoredPage | null, cursor: string | null): StoredPage | null {
  return page?.cursor === cursor ? page : null;
}
