import { expect, it } from 'vitest';
import type { FetchOptions, Page } from '../../../src/feed/api/read-api.js';
import {
  createVisitedCursors,
  firstPageKey,
  MOST_EMPTY_PAGES,
  MOST_REPEATED_PAGES,
  walkList,
} from '../../../src/feed/api/visited-cursors.js';

const page = (ids: string[], nextCursor: string | null): Page => ({
  list: 'todo',
  records: ids.map((id) => ({ id })),
  nextCursor,
  bytes: 0,
});

const looped = expect.objectContaining({ code: 'CF_CURSOR_LOOP' }) as Error;

const serve = (pages: Record<string, Page>, unknown = page([], null)) => ({
  fetchPage: (_list: string, { cursor }: FetchOptions) => Promise.resolve(pages[cursor ?? 'first'] ?? unknown),
});

const walk = async (api: ReturnType<typeof serve>) => {
  const ids: unknown[] = [];
  for await (const one of walkList(api, 'todo')) ids.push(...one.records.map(({ id }) => id));
  return ids;
};

it('walk: returns every page from the first to the end', async () => {
  const api = serve({ first: page(['a'], '1'), 1: page(['b'], '2'), 2: page(['c'], null) });
  expect(await walk(api)).toEqual(['a', 'b', 'c']);
});

it('walk: fails when the API answers an expired cursor with the first page', async () => {
  const first = page(['a', 'b'], '1');
  await expect(walk(serve({ first }, { ...first, nextCursor: null }))).rejects.toThrow(looped);
});

it('walk: fails after fifty empty pages in a row, and says what to do', async () => {
  let asked = 0;
  const api = { fetchPage: () => Promise.resolve(page(asked === 0 ? ['a'] : [], String(++asked))) };
  await expect(walk(api)).rejects.toThrow(/50 empty pages in a row.*disable the list/);
  expect(asked).toBe(1 + MOST_EMPTY_PAGES);
});

it('walk: a page with rows between empty ones begins the count again', async () => {
  let asked = 0;
  const api = {
    fetchPage: () =>
      Promise.resolve(page(++asked % 40 === 0 ? [`t-${asked}`] : [], asked === 200 ? null : String(asked))),
  };
  expect(await walk(api)).toHaveLength(5);
});

const endless = (cursorOf: (page: number) => string, idOf: (page: number) => string) => {
  let pages = 0;
  return { fetchPage: () => Promise.resolve(page([idOf(++pages)], cursorOf(pages))) };
};
const lastPage = async (api: ReturnType<typeof endless>): Promise<number> => {
  let pages = 0;
  await expect(
    (async () => {
      for await (const _page of walkList(api, 'todo')) pages += 1;
    })(),
  ).rejects.toThrow(
    expect.objectContaining({
      code: 'CF_CURSOR_LOOP',
      message: expect.stringMatching(/disable the list/) as string,
    }) as Error,
  );
  return pages;
};

it('walk: ends with an error when every page names a new cursor and shows no new record', async () => {
  const idOf = (number: number): string => (number <= 3 ? `t-${number}` : 't-2');
  expect(await lastPage(endless(String, idOf))).toBe(3 + MOST_REPEATED_PAGES - 1);
});

it('walk: ends when the cursors take too much memory', async () => {
  expect(await lastPage(endless((number) => `${number}${'c'.repeat(100_000)}`, String))).toBeLessThan(1_000);
});

it('walk: has no most pages while each shows a new record', async () => {
  const pages = 60_000;
  let asked = 0;
  const fetchPage = () => Promise.resolve(page([`t-${++asked}`], asked === pages ? null : String(asked)));
  expect(await walk({ fetchPage })).toHaveLength(pages);
});

it('visited cursors: continue from the stored ones, including the cursor that is followed next', () => {
  const visited = createVisitedCursors({ firstPage: firstPageKey(page(['a'], null)), cursors: ['1', '2'] });
  expect(() => visited.check(page(['c'], '3'), '2')).not.toThrow();
  expect(() => visited.check(page(['d'], '1'), '3')).toThrow(looped);
});

it('visited cursors: recognise the first page after a resume', () => {
  const firstPage = firstPageKey(page(['a', 'b'], '1'));
  expect(() => createVisitedCursors({ firstPage, cursors: [] }).check(page(['a', 'b'], '9'), '2')).toThrow(looped);
});

it('visited cursors: identify the first page by its ids and not by other fields', () => {
  const edited = { ...page([], '1'), records: [{ id: 'a', 제목: '고침' }] };
  expect(firstPageKey(edited)).toBe(firstPageKey(page(['a'], null)));
});

it('visited cursors: distinguish first pages without ids by their text', () => {
  const of = (type: string) => firstPageKey({ ...page([], null), records: [{ type }] });
  expect(of('email')).not.toBe(of('memoCreate'));
});

it('visited cursors: an empty list has no first page', () => {
  const visited = createVisitedCursors({ firstPage: null, cursors: [] });
  visited.check(page([], null), null);
  expect(visited.firstPage).toBeNull();
});
