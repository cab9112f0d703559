import { expect, it } from 'vitest';
import type { FetchedPage } from '../../../src/feed/api/read-api.js';
import { createReadAhead, type PageToRead } from '../../../src/feed/list/read-ahead.js';
import { systemClock } from '../../../src/kit/clock.js';
import type { StoredPage } from '../../../src/feed/store/sweep-state.js';

/** Pages 1, 2, 3 … with the cursors null, c2, c3 …, as the last sweep stored them. */
const storedPages = (count: number): StoredPage[] =>
  Array.from({ length: count }, (_, index) => ({
    cursor: index === 0 ? null : `c${index + 1}`,
    nextCursor: index === count - 1 ? null : `c${index + 2}`,
    digest: `d${index + 1}`,
    records: 50,
    firstPage: null,
  }));

interface Asked extends PageToRead {
  knownDigest?: string | undefined;
  answer: (page: FetchedPage) => void;
  dropped: () => boolean;
}

function readAhead({ pages, most }: { pages: readonly StoredPage[]; most: number }) {
  const asked: Asked[] = [];
  const ahead = createReadAhead({
    usable: () => true,
    fetch: ({ signal, ...wanted }) =>
      new Promise((answer, refuse) => {
        signal.addEventListener('abort', () => refuse(new Error('dropped')));
        asked.push({ ...wanted, answer, dropped: () => signal.aborted });
      }),
    stored: (from, count) =>
      Promise.resolve(Array.from({ length: count }, (_, index) => pages[from - 1 + index] ?? null)),
    most,
    clock: systemClock,
  });
  const answer = (page: number, nextCursor: string | null): void => {
    const request = asked.findLast((one) => one.page === page);
    request?.answer({ list: 'people', records: [], nextCursor, bytes: 0, digest: `d${page}` });
  };
  return { ahead, asked, answer, pagesAsked: () => asked.map(({ page }) => page) };
}

async function readKnown(run: ReturnType<typeof readAhead>, page: number): Promise<void> {
  const reading = run.ahead.read({ page, cursor: page === 1 ? null : `c${page}` });
  await expect.poll(() => run.pagesAsked()).toContain(page);
  run.answer(page, `c${page + 1}`);
  await reading;
}

it('read ahead: drops what was requested ahead when a page names another cursor, and begins again with one page', async () => {
  const run = readAhead({ pages: storedPages(30), most: 8 });
  await readKnown(run, 1);
  await readKnown(run, 2);
  const reading = run.ahead.read({ page: 3, cursor: 'other' });
  await expect.poll(() => run.asked.length).toBe(5);
  expect(run.asked.map(({ page, cursor, dropped }) => [page, cursor, dropped()])).toEqual([
    [1, null, false],
    [2, 'c2', false],
    [3, 'c3', true],
    [4, 'c4', true],
    [3, 'other', false],
  ]);
  expect(run.asked.at(-1)?.knownDigest).toBeUndefined();
  run.answer(3, 'c4');
  expect(await reading).toMatchObject({ known: null });
  await readKnown(run, 4);
  expect(run.pagesAsked().slice(5)).toEqual([4, 5]);
});
