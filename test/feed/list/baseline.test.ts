import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

const person = (id: string, name = id, more: object = {}): UncheckedRecord => ({ id, 이름: name, ...more });

const redis = useRedis();

it('baseline: since a time reports what was created or changed from then on, and nothing else', async () => {
  const dated = (id: string, created: string, changed: string) =>
    person(id, id, { '생성 날짜': `${created}T00:00:00.000Z`, '수정 날짜': `${changed}T00:00:00.000Z` });
  const api = listedApi([
    dated('old', '2026-01-01', '2026-02-01'),
    dated('changed', '2026-01-01', '2026-03-05'),
    dated('new', '2026-03-02', '2026-03-05'),
    person('undated'),
  ]);
  const { sweep, events, eventLines } = sweptList(redis, api);
  const { mode, counts } = await sweep({ baseline: { since: '2026-03-01T00:00:00.000Z' } });
  expect([mode, counts.baselined]).toEqual(['baseline', 4]);
  expect(await eventLines()).toEqual(['updated changed 1', 'created new 1']);
  expect((await events())[0]).toMatchObject({
    time: '2026-03-05T00:00:00.000Z',
    data: { before: null, changes: [], detectedBy: 'timestamp' },
  });
  await sweep({ baseline: { since: '2026-03-01T00:00:00.000Z' } });
  expect(await eventLines()).toHaveLength(2);
});

it.each([
  ['a page without nextCursor', undefined, 3],
  ['none that says that the list ends', true, 0],
] as const)('longest page: counts %s, also when the page is unchanged', async (_what, saysEnd, longest) => {
  const api = listedApi();
  const records = [person('a'), person('b'), person('c')];
  api.before = () => ({ list: 'people', records, nextCursor: null, bytes: 0, ...(saysEnd && { saysEnd }) });
  const { sweep } = sweptList(redis, api);
  expect([await sweep(), await sweep()].map(({ longestPage }) => longestPage)).toEqual([longest, longest]);
});

describe('resync:', () => {
  it('stores differences without events, and continues the sequences', async () => {
    const { show, eventLines, store } = await baselined(redis, [person('a', '1'), person('b'), person('c')]);
    await show([person('a', '2'), person('b'), person('c')]);
    await store.forgetBaseline('people');
    expect(await show([person('a', '3'), person('b'), person('new')])).toMatchObject({
      mode: 'baseline',
      counts: { baselined: 2, unchanged: 1 },
    });
    await show([person('a', '4'), person('b'), person('new', 'changed')]);
    expect(await eventLines()).toEqual(['updated a 1', 'updated a 2', 'updated new 1', 'deleted c 1']);
  });

  it.each(['emit', { since: '2020-01-01T00:00:00Z' }] as const)('is quiet also with baseline %j', async (baseline) => {
    const { api, sweep, eventLines, store } = await baselined(redis, [person('a'), person('b')], { baseline });
    const before = await eventLines();
    api.records = [person('c'), person('a', '2')];
    await store.forgetBaseline('people');
    expect(await sweep({ baseline })).toMatchObject({ mode: 'baseline', counts: { baselined: 2 } });
    expect(await eventLines()).toEqual(before);
  });

  it('cuts off a running sweep, and loses nothing that it had reported', async () => {
    const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => person(id));
    const { api, sweep, eventLines, store } = await baselined(redis, six);
    api.records = [person('x'), ...six];
    api.before = async (_cursor, page) => {
      if (page === 3) await store.forgetBaseline('people');
      return undefined;
    };
    await expect(sweep()).rejects.toMatchObject({ code: 'CF_LEASE_LOST' });
    api.before = () => undefined;
    api.records = six;
    // The record that only the aborted sweep has seen was reported as created, and does not exist any more.
    expect(await sweep()).toMatchObject({ mode: 'baseline', counts: { seen: 6, missing: 1 } });
    await sweep();
    await sweep();
    expect(await eventLines()).toEqual(['created x 1', 'deleted x 2']);
  });
});

describe('sweep: a list that only grows', () => {
  const row = (text: string, date = '2026-03-01T00:00:00.000Z', more: object = {}): UncheckedRecord => ({
    type: 'memoCreate',
    date,
    text,
    ...more,
  });

  it('reports late rows with old dates, and a changed row once as updated', async () => {
    const { api, show, sweep, eventLines } = await baselined(
      redis,
      [row('1', undefined, { id: 'x1' }), row('2', undefined, { id: 'x2' })],
      { list: 'activity' },
    );
    await show([...api.records, row('late', '2020-01-01T00:00:00.000Z', { id: 'x0' })]);
    await show([row('1 edited', undefined, { id: 'x1' }), ...api.records.slice(1)]);
    await sweep();
    expect(await eventLines()).toEqual(['created x0 1', 'updated x1 1']);
  });

  it('identifies rows without an id by their content, and equal ones of a page by number', async () => {
    const api = listedApi([row('1'), row('2')]);
    const { show, sweep, events } = sweptList(redis, api, 'activity');
    const eventLines = async () =>
      (await events()).map(({ type, data }) => `${type.split('.')[2] ?? ''} ${String(data.after?.['text'])}`);
    await sweep();
    await show([row('2'), row('1')]);
    expect(await eventLines()).toEqual([]);
    await show([row('2'), row('1'), row('3'), row('3')]);
    await sweep();
    expect(await eventLines()).toEqual(['created 3', 'created 3']);
    // Between two pages it may be the same row, shown again because rows moved on; nothing is deleted by content alone.
    await show([row('2'), row('3'), row('3'), row('1')]);
    await sweep({ rules: { ignore: ['text'] } });
    await sweep();
    expect(await eventLines()).toHaveLength(2);
  });
});

it('sweep: an interrupted one counts a record once although its page came twice, before and after', async () => {
  const five = ['a', 'b', 'c', 'd', 'e'].map((id) => person(id));
  const { api, show, sweep } = await baselined(redis, five);
  api.before = (_cursor, page) => {
    if (page === 2) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'The API is away.' });
    return undefined;
  };
  await expect(sweep()).rejects.toThrow();
  api.before = () => undefined;
  expect((await show([person('new'), ...five])).counts).toMatchObject({
    seen: 5,
    unchanged: 5,
    created: 0,
    missing: 0,
  });
  expect((await sweep()).counts).toMatchObject({ seen: 6, created: 1 });
});
