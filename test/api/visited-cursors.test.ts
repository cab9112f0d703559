import { describe, expect, it } from 'vitest';
import type { FetchOptions, Page } from '../../src/api/read-api.js';
import { createVisitedCursors, firstPageKey, walkList } from '../../src/api/visited-cursors.js';

const page = (ids: string[], nextCursor: string | null): Page => ({
  list: 'todo',
  records: ids.map((id) => ({ id })),
  nextCursor,
  bytes: 0,
});

const looped = expect.objectContaining({ code: 'CF_CURSOR_LOOP' }) as Error;

/** Serves pages by cursor; a cursor it does not know brings `unknown`. */
const serve = (pages: Record<string, Page>, unknown = page([], null)) => ({
  fetchPage: (_list: string, { cursor }: FetchOptions) => Promise.resolve(pages[cursor ?? 'first'] ?? unknown),
});

const walk = async (api: ReturnType<typeof serve>) => {
  const ids: unknown[] = [];
  for await (const one of walkList(api, 'todo')) ids.push(...one.records.map(({ id }) => id));
  return ids;
};

describe('walk', () => {
  it('walk: returns every page from the first to the end', async () => {
    const api = serve({ first: page(['a'], '1'), 1: page(['b'], '2'), 2: page(['c'], null) });
    expect(await walk(api)).toEqual(['a', 'b', 'c']);
  });

  it('walk: fails when a page points to a cursor that was already followed', async () => {
    const api = serve({ first: page(['a'], '1'), 1: page(['b'], '2'), 2: page(['c'], '1') });
    await expect(walk(api)).rejects.toThrow(looped);
  });

  it('walk: fails when a page points to itself', async () => {
    await expect(walk(serve({ first: page(['a'], '1'), 1: page(['b'], '1') }))).rejects.toThrow(looped);
  });

  it('walk: fails when the API answers an expired cursor with the first page', async () => {
    const first = page(['a', 'b'], '1');
    await expect(walk(serve({ first }, { ...first, nextCursor: null }))).rejects.toThrow(looped);
  });

  it('walk: passes the signal and the page number to every request', async () => {
    const { signal } = new AbortController();
    const asked: FetchOptions[] = [];
    const pages = [page(['a'], '1'), page(['b'], null)];
    const api = {
      fetchPage: (_list: string, options: FetchOptions) => Promise.resolve(pages[asked.push(options) - 1]!),
    };
    for await (const one of walkList(api, 'todo', { signal })) expect(one.list).toBe('todo');
    expect(asked).toEqual([
      { cursor: null, page: 1, signal },
      { cursor: '1', page: 2, signal },
    ]);
  });
});

describe('visited cursors', () => {
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
});
