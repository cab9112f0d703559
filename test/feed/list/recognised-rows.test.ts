import { expect, it } from 'vitest';
import { USUAL, type ListDescriptor } from '../../../src/crm/lists/descriptor.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { explainRecord } from '../../../src/feed/list/explain.js';
import type { SweepStore } from '../../../src/feed/store/sweep-store.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import type { Page } from '../../../src/feed/api/read-api.js';
import { MOST_REPEATED_PAGES } from '../../../src/feed/api/visited-cursors.js';
import { listedApi } from '../../support/listed.js';
import { useRedis, type TestRedis } from '../../support/redis.js';
import { shortcutLoop } from '../../support/shortcut-loop.js';
import { sweptList } from '../../support/swept-list.js';

const LIST: ListDescriptor = {
  ...USUAL,
  ...{ name: 'people_history', path: 'v2/people/history', key: 'peopleHistoryList', object: 'person_history' },
  ...{ keyIsWritten: false, growsOnly: true, recognisedOnly: true, ids: 'optional' },
};
/** The same list as somebody describes it who wants its rows stored. */
const STORED: ListDescriptor = { ...LIST, recognisedOnly: false };
const row = (n: number, fieldValue: unknown = n) => ({
  id: `0197f3b0-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
  ...{ peopleId: `p${n}`, fieldName: '담당자', fieldValue, createdAt: '2026-03-01T00:00:00.000Z' },
});
const rows = (count: number, from = 0) => Array.from({ length: count }, (_, n) => row(from + n));

const test = useRedis();
const swept = (count: number, pageSize = 2) => {
  const api = listedApi(rows(count), pageSize);
  const list = sweptList(test, api, LIST);
  const stored = sweptList(test, api, STORED);
  const created = async () =>
    (await list.events()).map(({ type, data }) => `${type.split('.')[2] ?? ''} ${String(data.after?.['peopleId'])}`);
  return { ...list, api, created, sweepStored: stored.sweep };
};
const keysOf = async ({ redis, keys }: TestRedis) =>
  (await redis.keys(keys.everythingOf('acme'))).map((key) => key.split('}:')[1]).sort();

it('recognised rows: a new row is one event with its contents; a changed or removed one is none, and no row is stored', async () => {
  const { api, sweep, created, events } = swept(5);
  expect(await sweep()).toMatchObject({ mode: 'baseline', counts: { baselined: 5 } });
  api.records = [row(0, 'changed'), row(1), row(3), row(4), row(5)];
  for (let n = 0; n < 3; n += 1) await sweep();
  expect(await created()).toEqual(['created p5']);
  expect((await events())[0]).toMatchObject({
    type: 'crm.person_history.created',
    data: { sequence: 1, before: null },
  });
  const [day, ...others] = await keysOf(test);
  // It is counted; its contents are in no count.
  expect(day).toMatch(/^day:/);
  expect(others).toEqual(['log', 'pages:people_history', 'rows:people_history', 'sweep:people_history']);
});

it('recognised rows: with its records stored, the same list reports all of this (control)', async () => {
  const { api, sweepStored, eventLines } = swept(5);
  await sweepStored();
  api.records = [row(0, 'changed'), row(1), row(3), row(4), row(5)];
  for (let n = 0; n < 3; n += 1) await sweepStored();
  expect((await eventLines()).map((line) => line.split(' ')[0]).sort()).toEqual(['created', 'deleted', 'updated']);
});

it('recognised rows: a thousand pages that show more rows than there are, and no new one, have no end; fewer are complete', async () => {
  const { api, sweep } = swept(1_300, 1_300);
  await sweep();
  api.pageSize = 1;
  expect(await sweep()).toMatchObject({ pages: 1_300, counts: { seen: 1_300, created: 0 } });

  const again = (page: number) => ({ list: LIST.name, records: rows(2, 2), nextCursor: `c${page}`, bytes: 0 }) as Page;
  api.before = (_cursor, page) => (page > 1 ? again(page) : undefined);
  await expect(sweep()).rejects.toMatchObject({
    // As many rows as are stored, and then a thousand pages.
    facts: { page: 650 + MOST_REPEATED_PAGES },
    cause: { code: 'CF_CURSOR_LOOP' },
  });
});

it('recognised rows: after a kill between pages, no row is missed or reported twice', async () => {
  const { api, sweep, created } = swept(6);
  const failAt = (failing: number) => (_cursor: string | null, page: number) => {
    if (page === failing) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'The API is away.' });
    return undefined;
  };
  for (const records of [rows(6), [row(6), ...rows(6), row(7)]]) {
    api.records = records;
    for (const page of [2, 3]) {
      api.before = failAt(page);
      await expect(sweep({ baseline: 'emit' })).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    }
    api.before = () => undefined;
    await sweep({ baseline: 'emit' });
  }
  expect(await created()).toEqual([...rows(6).map((_, n) => `snapshot p${n}`), 'created p6', 'created p7']);
});

it('recognised rows: a row has the same event in every epoch', async () => {
  const { api, sweep, store, events } = swept(1);
  await sweep();
  api.records = rows(2);
  const inEpoch: SweepStore = {
    ...store,
    acquire: async (list, ms) => ({ ...(await store.acquire(list, ms)), epoch: 7 }),
  };
  expect(await sweep({ store: inEpoch })).toMatchObject({ epoch: 7, counts: { created: 1 } });
  expect((await events()).map(({ data }) => data.sequence)).toEqual([1]);
});

it('recognised rows: the end is read, also after removals moved it; late rows elsewhere are found by the walk; nothing twice', async () => {
  const api = listedApi(rows(9), 2);
  const { pass, walk, lines, restart } = await shortcutLoop(test, { people_history: api }, LIST);
  const found = async () => (await lines()).map((line) => Number.parseInt(line.slice(-12), 16));
  await walk();
  api.records.push(...rows(3, 9));
  await pass(8_000);
  expect(await found()).toEqual([9, 10, 11]);
  api.records.splice(2, 3);
  await restart();
  api.records.push(row(12));
  await walk();
  api.records.push(row(13));
  await pass(8_000);
  expect(await found()).toEqual([9, 10, 11, 12, 13]);
  api.records.splice(3, 0, row(14));
  await walk();
  await restart();
  await walk();
  expect(await found()).toEqual([9, 10, 11, 12, 13, 14]);
});

it('recognised rows: the guard counts what shortcuts have created since the last complete sweep, of which no id is kept', async () => {
  const api = listedApi(rows(4), 2);
  const { pass, walk, store } = await shortcutLoop(test, { people_history: api }, LIST);
  await walk();
  api.records.push(...rows(3, 4));
  await pass(8_000);
  const fresh = async () => (await store.load('people_history')).fresh;
  expect(await fresh()).toBe(3);
  await walk();
  expect(await fresh()).toBe(0);
});

it('recognised rows: a list of other rows is held, and a person may accept it', async () => {
  const { api, sweep, store, created } = swept(30);
  await sweep();
  api.records = rows(30, 100);
  expect(await sweep()).toMatchObject({ held: [{ what: 'creations', why: 'replaced', count: 30 }] });
  expect(await created()).toEqual([]);
  await store.acceptHeld('people_history');
  await sweep();
  expect(await created()).toHaveLength(30);
});

it('recognised rows: another form of what is kept, or its loss, leads to a quiet baseline', async () => {
  const { api, sweep, sweepStored, created, store } = swept(5);
  await sweepStored();
  api.records.push(row(5));
  expect(await sweep()).toMatchObject({ mode: 'baseline' });
  expect(await keysOf(test)).toEqual(['pages:people_history', 'rows:people_history', 'sweep:people_history']);
  api.records.push(row(6));
  expect(await sweep()).toMatchObject({ mode: 'changes' });
  expect(await sweepStored()).toMatchObject({ mode: 'baseline' });
  expect(await store.schema('people_history')).toMatchObject({ rows: 7 });
  api.records.push(row(7));
  await sweepStored();
  await sweep();
  await test.redis.del(test.keys.rows('acme', 'people_history'));
  api.records.push(row(8));
  await expect(sweep()).rejects.toMatchObject({ code: 'CF_STATE_LOST' });
  expect(await sweep()).toMatchObject({ mode: 'baseline' });
  expect(await store.schema('people_history')).toMatchObject({ rows: 9 });
  expect(await created()).toEqual(['created p6', 'created p7']);
});

it('recognised rows: explain says what is kept', async () => {
  const { sweep, store } = swept(1);
  await sweep();
  const story = (id: string) => explainRecord(store, { list: LIST.name, id, rules: compileRules(LIST) });
  expect(await story(row(0).id)).toMatchObject({ known: true, kept: 'only its key' });
  expect(await story('nobody')).toMatchObject({ known: false, kept: 'nothing' });
});

it('recognised rows: take less than 30 bytes each', async () => {
  const count = 10_000;
  const { sweep } = swept(count, 50);
  await sweep();
  await sweep();
  const keys = (await test.redis.keys(test.keys.everythingOf('acme'))).filter((key) => key.endsWith(LIST.name));
  const sizes = await Promise.all(keys.map((key) => test.redis.memory('USAGE', key, 'SAMPLES', 0)));
  const bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  expect(bytes / count).toBeLessThan(30);
  expect(bytes / count).toBeGreaterThan(8);
});
