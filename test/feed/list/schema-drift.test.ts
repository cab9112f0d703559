import { describe, expect, it } from 'vitest';
import { dyingStore } from '../../support/dying-store.js';
import { listedApi } from '../../support/listed.js';
import { customer, customers } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

const redis = useRedis();

describe('schema drift: a field that moves on nearly all rows', () => {
  it.each([
    ['appears', () => ({ 출처: 'web' }), { field: '출처', kind: 'appeared', before: ['absent'], after: ['string'] }],
    [
      'vanishes',
      () => ({ 등급: undefined }),
      { field: '등급', kind: 'vanished', before: ['string'], after: ['absent'] },
    ],
    [
      'changes form',
      () => ({ 등급: ['A'] }),
      { field: '등급', kind: 'changed', before: ['string'], after: ['list of string'] },
    ],
    [
      'is filled',
      (n: number) => ({ 메모: `m${n}` }),
      { field: '메모', kind: 'changed', before: ['null'], after: ['string'] },
    ],
  ])('is one event when it %s, and the images move along', async (_what, more, schema) => {
    const { show, sweep, events } = await baselined(redis, customers(30));
    const { counts, muted } = await show(customers(30, more));
    expect(counts).toMatchObject({ seen: 30, ignored: 30, edited: 0 });
    expect(muted).toEqual({ schema: 30 });
    await sweep();
    const emitted = await events();
    expect(emitted.map(({ type, subject }) => [type, subject])).toEqual([
      ['crm.person.schema_changed', `schema:${schema.field}`],
    ]);
    expect(emitted[0]?.data.schema).toEqual({ ...schema, rows: 30, share: 1 });

    expect(
      (await show(customers(30, more).with(3, customer(3, { ...more(3), 이름: 'changed' })))).counts,
    ).toMatchObject({ unchanged: 29, edited: 1 });
  });

  it('is an event per record when the collapse is switched off (control)', async () => {
    const { show, eventLines } = await baselined(redis, customers(30));
    await show(
      customers(30, () => ({ 출처: 'web' })),
      { rules: { collapse: false } },
    );
    expect(await eventLines()).toHaveLength(30);
  });

  it('does not mute what a person changed in the same sweep', async () => {
    const { show, eventLines, events } = await baselined(redis, customers(30));
    await show(customers(30, (n) => ({ 출처: 'web', ...(n === 7 ? { 이름: '김민서' } : {}) })));
    expect(await eventLines()).toEqual(['schema_changed schema:출처 1', 'updated p007 1']);
    expect((await events())[1]?.data.changes.map(({ field }) => field)).toEqual(['이름']);
  });

  it('does not mute a value that a person set in the sweep in which empty keys vanished, nor later', async () => {
    const { api, show, events } = await baselined(redis, customers(30));
    const gone = (index: number, 메모?: string) => customer(index, { 메모 });
    await show(customers(30, () => ({ 메모: undefined })).with(5, gone(5, 'called')));
    await show(api.records.with(7, gone(7, 'met')));
    const emitted = await events();
    expect(emitted.map(({ type, subject, data }) => [type, subject, data.changes.map(({ field }) => field)])).toEqual([
      ['crm.person.schema_changed', 'schema:메모', []],
      ['crm.person.updated', 'p005', ['메모']],
      ['crm.person.updated', 'p007', ['메모']],
    ]);
  });
});

describe('schema drift: a schema that is changed back', () => {
  it('is one more event, although every row shows an earlier content', async () => {
    const api = listedApi(customers(40));
    const { show, sweep, eventLines } = sweptList(redis, api);
    const graded = (n: number) => (n % 4 === 0 ? { 메모: `m${n}` } : {});
    await show(customers(40, graded));
    for (const more of [() => ({ 메모: undefined }), graded]) {
      await show(customers(40, more));
      await sweep();
    }
    expect(await eventLines()).toEqual(['schema_changed schema:메모 1', 'schema_changed schema:메모 2']);
  });

  it('is followed without an event by a row that is shown later', async () => {
    const { show, sweep, eventLines } = await baselined(redis, customers(40));
    const late = customers(40)[7]!;
    await show(customers(40, () => ({ 출처: 'web' })).with(7, late));
    await sweep();
    await show(customers(40, () => ({ 출처: 'web' })));
    expect(await eventLines()).toEqual(['schema_changed schema:출처 1']);
  });
});

describe('schema drift: a field that moves on some rows', () => {
  it.each([
    [1, 30],
    [15, 30],
    [25, 30],
    [9, 9],
  ])('is an event for each of them: %i of %i', async (some, all) => {
    const { show, sweep, eventLines } = await baselined(redis, customers(all));
    const first = await show(customers(all, (n) => ((n * 7) % all < some ? { 출처: 'web' } : {})));
    expect(first.counts).toMatchObject({ edited: some });
    await sweep();
    expect(await eventLines()).toHaveLength(some);
  });

  it('is one event when the schema changes between two pages of a sweep', async () => {
    const { api, sweep, eventLines } = await baselined(redis, customers(40));
    let pages = 0;
    api.before = () => {
      if ((pages += 1) === 11) api.records = customers(40, () => ({ 출처: 'web' }));
      return undefined;
    };
    await sweep();
    expect((await eventLines()).at(-1)).toBe('schema_changed schema:출처 1');
    // The first rows that moved were reported before they were enough to begin a survey.
    expect((await eventLines()).length).toBeLessThanOrEqual(3);
  });

  it('is reported at its page when other rows of the page stayed, and does not begin a survey', async () => {
    const { api, sweep, eventLines } = await baselined(redis, customers(200), { pageSize: 20 });
    api.records = customers(200, (n) => (n % 20 < 5 ? { 출처: 'web' } : {}));
    api.asked.length = 0;
    await sweep();
    expect(api.asked).toHaveLength(10);
    expect(await eventLines()).toHaveLength(50);
  });

  it('is one event when it moves from some page on, although a person filled it on an earlier page', async () => {
    const { api, sweep, eventLines } = await baselined(redis, customers(60), { pageSize: 20 });
    api.records = customers(60, (n) => (n === 3 ? { 출처: 'web' } : {}));
    api.before = (_cursor, page) => {
      if (page === 2) api.records = customers(60, () => ({ 출처: 'web' }));
      return undefined;
    };
    await sweep();
    expect(await eventLines()).toEqual(['updated p003 1', 'schema_changed schema:출처 1']);
  });
});

it.each([1, 5, 10, 16, 17, 18, 19, 20, 21])(
  'schema drift: a crash before, in or after a survey loses and repeats nothing (at write %i)',
  async (fatal) => {
    const { api, sweep, eventLines, store } = await baselined(redis, customers(30));
    api.records = customers(30, (n) => ({ 출처: 'web', ...(n % 10 === 0 ? { 이름: 'changed' } : {}) }));
    const { dying } = dyingStore(store, fatal);
    await sweep({ store: dying }).catch(() => undefined);
    await sweep();
    await sweep();
    expect(await eventLines()).toEqual([
      'schema_changed schema:출처 1',
      'updated p000 1',
      'updated p010 1',
      'updated p020 1',
    ]);
  },
);
