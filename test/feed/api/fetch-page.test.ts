/** Pages that a function of the configuration gives: what it may return and throw, and what becomes of it. */
import { expect, it } from 'vitest';
import { openReadApi, type SourceOptions } from '../../../src/feed/api/client.js';
import type { Answer } from '../../../src/feed/api/failure.js';
import type { FetchPageFunction } from '../../../src/feed/api/fetch-page.js';
import type { ObservedTry } from '../../../src/feed/api/one-try.js';
import { isUnchanged } from '../../../src/feed/api/read-api.js';
import { systemClock } from '../../../src/kit/clock.js';
import { silentLog } from '../../../src/kit/log.js';
import { PermanentError, RetryAfterError, UnauthorizedError } from '../../../src/kit/thrown.js';

const FIRST = { cursor: null, page: 1 };

function reading(fetchPage: FetchPageFunction, options: Partial<SourceOptions> = {}) {
  const [tried, waits, budget, lines] = [[] as ObservedTry[], [] as number[], [] as string[], [] as object[]];
  const api = openReadApi({
    workspace: 'acme',
    fetchPage,
    budget: {
      take: () => Promise.resolve(void budget.push('take')),
      pause: (ms) => Promise.resolve(void budget.push(`pause ${ms}`)),
    },
    clock: { ...systemClock, sleep: (ms) => Promise.resolve(void waits.push(ms)) },
    random: () => 0,
    attempts: 3,
    log: { ...silentLog, debug: (facts) => void lines.push(facts) },
    observe: (one) => void tried.push(one),
    ...options,
  });
  return { api, tried, waits, budget, lines };
}

it('fetchPage: its rows are a page, and it is asked with the cursor of the one before', async () => {
  const calls: object[] = [];
  const { api, tried, budget } = reading(({ signal, ...call }) => {
    calls.push({ ...call, signal: signal.aborted });
    return {
      rows: [{ id: 'a', at: new Date(0), big: 2n ** 60n }, { id: 7 }],
      next: call.cursor === null ? 'more' : null,
    };
  });
  const first = await api.fetchPage('people', FIRST);
  const second = await api.fetchPage('history', { cursor: first.nextCursor, page: 2 });
  expect(first.records).toEqual([{ id: 'a', at: '1970-01-01T00:00:00.000Z', big: '1152921504606846976' }, { id: 7 }]);
  expect([first.nextCursor, second.nextCursor, second.saysEnd]).toEqual(['more', null, true]);
  const common = { workspace: 'acme', signal: false };
  expect(calls).toEqual([
    { ...common, list: 'people', cursor: null },
    { ...common, list: 'history', cursor: 'more' },
  ]);
  expect(budget).toEqual(['take', 'take']);
  expect(tried.map(({ code, bytes }) => [code, bytes > 50])).toEqual([
    [null, true],
    [null, true],
  ]);
});

it('fetchPage: a page with the same rows is recognised and not read again, and a changed one is', async () => {
  let name = '김';
  const { api } = reading(() => ({ rows: [{ id: 'a', name }] }));
  const { digest: knownDigest } = await api.fetchPage('people', FIRST);
  const again = { ...FIRST, knownDigest };
  expect(isUnchanged(await api.fetchIfChanged('people', again))).toBe(true);
  name = '이';
  expect(isUnchanged(await api.fetchIfChanged('people', again))).toBe(false);
});

it('fetchPage: `date` tells the clock of the CRM, as a Date header does', async () => {
  const answers: Answer[] = [];
  const { api } = reading(() => ({ rows: [], date: new Date(systemClock.now() + 60_000) }));
  await api.fetchPage('people', { ...FIRST, onAnswer: (one) => answers.push(one) });
  expect(Math.abs(api.clockApartMs()! - 60_000)).toBeLessThan(2_000);
  expect(answers).toHaveLength(1);
});

it('fetchPage: rows that cannot be read are left out and named', async () => {
  let deep: object = {};
  for (let n = 0; n < 60; n += 1) deep = { deep };
  const { api } = reading(() => ({ rows: [{ id: 'a', deep }, { id: 'b' }] }));
  expect(await api.fetchPage('people', FIRST)).toMatchObject({ records: [{ id: 'b' }], unreadable: [{ id: 'a' }] });
});

const cyclic: { id: string; self?: object } = { id: 'a' };
cyclic.self = cyclic;

it.each<[string, unknown, RegExp]>([
  ['nothing', undefined, /expected \{ rows, next \}, found nothing/],
  ['an array', [{ id: 'a' }], /expected \{ rows, next \}, found an array of 1/],
  ['no rows', { next: null }, /expected "rows" to be an array, found nothing/],
  ['rows that are no array', { rows: { a: 1 } }, /expected "rows" to be an array, found an object with 1 keys/],
  [
    'a row that is no object',
    { rows: [{ id: 'a' }, 'b'] },
    /every element to be an object, found a string of 1 characters at 1/,
  ],
  ['a row that is null', { rows: [null] }, /every element to be an object, found null at 0/],
  [
    'a row that refers to itself',
    { rows: [cyclic] },
    /expected rows that can be written as JSON, and writing them threw TypeError/,
  ],
  ['1,001 rows', { rows: Array.from({ length: 1_001 }, () => ({})) }, /expected at most 1000 rows, found 1001/],
  ['a number as next', { rows: [], next: 2 }, /expected "next" to be a text or null, found a number/],
  ['the same cursor again', { rows: [{ id: 'a' }], next: 'c' }, /expected "next" to lead on/],
  [
    'a date that is none',
    { rows: [], date: 'yesterday' },
    /expected "date" to be a time, found a string of 9 characters/,
  ],
  [
    'a total that is none',
    { rows: [], total: '120' },
    /expected "total" to be a number, found a string of 3 characters/,
  ],
  ['too many bytes', { rows: [{ id: 'x'.repeat(5_000) }] }, /expected a page of at most 4000 bytes/],
])('fetchPage: %s is an error that says what, where and what to do', async (_what, result, said) => {
  const { api, tried } = reading(() => result as { rows: [] }, { maxBytes: 4_000, attempts: 9 });
  const error = await api.fetchPage('people', { cursor: 'c', page: 4 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'CF_PAGE_MALFORMED', facts: { list: 'people', page: 4 } });
  expect(String(error)).toMatch(said);
  expect(String(error)).toMatch(
    /Workspace "acme", list "people", page 4: .*Nothing of it was written.*Correct fetchPage/,
  );
  expect(tried).toHaveLength(4);
});

it('fetchPage: a first page that has fewer rows than `total` and no next is no whole list', async () => {
  const rows = Array.from({ length: 50 }, (_, id) => ({ id }));
  const read = (page: number, total: number) =>
    reading(() => ({ rows, total })).api.fetchPage('people', { cursor: null, page });
  await expect(read(1, 120)).rejects.toThrow('the list has 120 records, and ends after 50');
  expect([(await read(1, 50)).records.length, (await read(3, 120)).records.length]).toEqual([50, 50]);
});

it.each<[string, unknown, object]>([
  ['an error', new TypeError('no 김비밀'), { code: 'CF_UNAVAILABLE', tries: 3 }],
  [
    'a failed fetch',
    new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
    { code: 'CF_UNAVAILABLE', tries: 3 },
  ],
  ['a text', 'no 김비밀', { code: 'CF_UNAVAILABLE', tries: 3 }],
  [
    'RetryAfterError',
    new RetryAfterError('no 김비밀', { retryAfter: '7s' }),
    { code: 'CF_RATE_LIMITED', tries: 3, budget: 'pause 7000' },
  ],
  ['UnauthorizedError', new UnauthorizedError('no 김비밀'), { code: 'CF_UNAUTHORISED', tries: 1 }],
  ['PermanentError', new PermanentError('no 김비밀'), { code: 'CF_REQUEST_REFUSED', tries: 1 }],
])(
  'fetchPage: what it throws, %s, has its code and tries, and its words are in the debug log alone',
  async (_what, thrown, expected) => {
    const client = reading(() => {
      throw thrown;
    });
    const error = (await client.api.fetchPage('people', FIRST).catch((one: unknown) => one)) as Error & {
      code: string;
    };
    expect({
      code: error.code,
      tries: client.tried.length,
      ...(client.budget.includes('pause 7000') && { budget: 'pause 7000' }),
    }).toEqual(expected);
    expect(error.message).toMatch(/fetchPage of "acme" threw \w+/);
    expect(JSON.stringify([error.message, client.tried])).not.toContain('김비밀');
    if (client.tried.length > 1 && !error.message.includes('ECONN'))
      expect(JSON.stringify(client.lines)).toContain('김비밀');
  },
);

it('fetchPage: one that never returns, and does not listen to its signal, is given up after the timeout', async () => {
  const { api } = reading(() => new Promise(() => undefined), { timeoutMs: 20, attempts: 1 });
  await expect(api.fetchPage('people', FIRST)).rejects.toThrow('fetchPage of "acme" did not return within 20 ms');
});

it('fetchPage: a stop is a stop, and not an error of the page', async () => {
  const stopping = new AbortController();
  const { api } = reading(
    ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('mine')))),
  );
  const stopped = api.fetchPage('people', { ...FIRST, signal: stopping.signal });
  stopping.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
});
