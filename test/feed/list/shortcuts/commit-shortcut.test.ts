import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../../src/crm/record.js';
import { UNCONFIRMED } from '../../../../src/feed/detect/removal.js';
import { ChangefeedError } from '../../../../src/kit/errors.js';
import type { SweepStore } from '../../../../src/feed/store/sweep-store.js';
import { listedApi } from '../../../support/listed.js';
import { useRedis } from '../../../support/redis.js';
import { shortcutCase, walkedCase } from '../../../support/shortcut-case.js';

const redis = useRedis();

const at = (minute: number): string => new Date(Date.UTC(2026, 2, 1, 0, minute, 1)).toISOString();
const person = (id: string, more: object = {}): UncheckedRecord => ({ id, 이름: id, '수정 날짜': at(0), ...more });
const people = (count: number): UncheckedRecord[] => Array.from({ length: count }, (_, index) => person(`p${index}`));
const edited = (record: UncheckedRecord, minute = 5): UncheckedRecord => ({
  ...record,
  등급: 'A',
  '수정 날짜': at(minute),
});
const replace = (records: readonly UncheckedRecord[], one: UncheckedRecord): UncheckedRecord[] =>
  records.map((record) => (record['id'] === one['id'] ? one : record));

describe('shortcut: what a page outside the order of a walk commits', () => {
  it('gives a change the id that the walk would give it', async () => {
    const found = async (by: 'walk' | 'shortcut'): Promise<string[]> => {
      const { api, read, walk, events } = await walkedCase(redis, people(5));
      api.records = [...replace(people(5), edited(person('p4'))), person('late')];
      if (by === 'walk') await walk();
      else await read({ page: 3 });
      const ids = (await events()).map(({ id }) => id);
      await redis.redis.del(...(await redis.redis.keys(`${redis.keys.prefix}:*`)));
      expect(ids).toHaveLength(2);
      return ids.sort();
    };
    expect(await found('shortcut')).toEqual(await found('walk'));
  });

  it.each([5, 15])(
    'commits nothing of a record that is older than its stored record, %i minutes after',
    async (minutes) => {
      const { api, read, walk, eventLines } = await walkedCase(redis, people(4));
      api.records = replace(people(4), edited(person('p0')));
      await walk();
      await walk({ minutesLater: minutes });
      // A lagging replica: p0 as it was, p1 with an edit.
      api.records = replace(people(4), edited(person('p1')));
      expect(await read({ page: 1 })).toMatchObject({
        rewritten: ['p1'],
        left: minutes < 10 ? 0 : 1,
      });
      expect(await eventLines()).toEqual(['updated p0 1', 'updated p1 1']);
    },
  );

  it('commits only what is certain while kept cursors may be answered with the page as it was', async () => {
    const { api, read, eventLines } = await walkedCase(redis, [...people(4)], 10);
    const counted = (id: string): UncheckedRecord => ({ ...person(id), '활동 수': 7 });
    api.records = [counted('p0'), edited(person('p1')), person('p2'), person('p3'), person('late')];
    expect(await read({ page: 1, isLive: false })).toMatchObject({ created: ['late'], rewritten: ['p1'], left: 1 });
    expect(await eventLines()).toEqual(['updated p1 1', 'created late 1']);
    expect(await read({ page: 1 })).toMatchObject({ created: [], rewritten: ['p0'], left: 0 });
  });

  it('leaves a deleted record that is shown again to the walk', async () => {
    const { api, read, walk, eventLines } = await walkedCase(redis, people(4));
    api.records = people(3);
    for (let round = 0; round < 3; round += 1) await walk();
    api.records = [...people(3), edited(person('p3'))];
    expect(await read({ page: 2 })).toMatchObject({ created: [], rewritten: [], left: 1 });
    expect(await eventLines()).toEqual(['deleted p3 1']);
  });

  it('leaves a record that stood on another page to the walk', async () => {
    const { api, read, walk, eventLines } = await walkedCase(redis, people(4));
    api.records = [person('p0'), edited(person('p3')), person('p1'), person('p2')];
    expect(await read({ page: 1 })).toMatchObject({ rewritten: [], left: 1 });
    expect(await eventLines()).toEqual([]);
    await walk();
    expect(await eventLines()).toEqual(['updated p3 1']);
  });

  it('drops a page with more new records than the guard lets pass in a whole list', async () => {
    const creations = { maxShare: 0.2, maxCount: 2 };
    const { api, read, eventLines } = await walkedCase(redis, people(4), 10);
    api.records = [...people(4), person('x'), person('y')];
    expect(await read({ page: 1, creations })).toMatchObject({ created: ['x', 'y'] });
    // The third new record since the last walk is one too many, though it is alone on its page.
    api.records = [...api.records, person('z')];
    expect(await read({ page: 1, creations })).toEqual('too many new');
    expect(await eventLines()).toEqual(['created x 1', 'created y 1']);
  });

  it('commits nothing before the first complete sweep, after a resync, and from another source', async () => {
    const api = listedApi(people(4));
    const { read, walk, store, eventLines } = shortcutCase(redis, api);
    expect(await read({ page: 1 })).toEqual('no baseline');
    await walk({ source: 'https://crm.example/api' });
    api.records = replace(people(4), edited(person('p0')));
    expect(await read({ page: 1, source: 'https://other.example/api' })).toEqual('source');
    await store.forgetBaseline('people');
    expect(await read({ page: 1, source: 'https://crm.example/api' })).toEqual('no baseline');
    expect(await eventLines()).toEqual([]);
  });

  it('commits nothing while new records are held', async () => {
    const creations = { maxShare: 0.2, maxCount: 1 };
    const { api, read, walk, eventLines } = await walkedCase(redis, people(4), 10);
    api.records = [...people(4), person('x'), person('y'), person('z')];
    await walk({ creations });
    expect(await read({ page: 1, creations })).toEqual('held');
    expect(await eventLines()).toEqual([]);
  });

  it('leaves the checkpoint of an interrupted sweep as it is', async () => {
    const { api, read, walk, sweep, store, eventLines } = await walkedCase(redis, people(6));
    api.before = (_cursor, page) => {
      if (page === 3) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'down' });
      return undefined;
    };
    await expect(walk()).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    const before = await store.load('people');
    expect(before.checkpoint).toMatchObject({ pages: 2 });
    api.before = () => undefined;
    api.records = [...replace(people(6), edited(person('p5')))];
    expect(await read({ page: 3 })).toMatchObject({ rewritten: ['p5'] });
    expect(await store.load('people')).toEqual(before);
    await sweep();
    expect(await eventLines()).toEqual(['updated p5 1']);
  });
});

describe('shortcut: a record that only a shortcut has seen', () => {
  it('is missed by the walks after it, and deleted once', async () => {
    const { api, read, walk, eventLines, store } = await walkedCase(redis, people(5));
    api.records = [...people(5), person('brief')];
    await read({ page: 3 });
    api.records = people(5);
    for (let round = 0; round < 4; round += 1) await walk();
    expect(await eventLines()).toEqual(['created brief 1', 'deleted brief 2']);
    expect(await store.membersOf('people', [UNCONFIRMED])).toEqual([null]);
  });

  it('control: without the marks that a walk takes over, its removal goes unnoticed', async () => {
    const api = listedApi(people(5));
    const { read, sweep, store: ours, eventLines } = shortcutCase(redis, api);
    const store: SweepStore = { ...ours, beginWalk: () => Promise.resolve({ outcome: 'committed', events: 0 }) };
    await sweep();
    api.records = [...people(5), person('brief')];
    await read({ page: 3 });
    api.records = people(5);
    for (let round = 0; round < 4; round += 1) await sweep({ store });
    expect(await eventLines()).toEqual(['created brief 1']);
  });

  it('is not missing from the walk that had passed its page when it was created', async () => {
    const { api, read, walk, sweep, store, eventLines } = await walkedCase(redis, people(6));
    api.before = (_cursor, page) => {
      if (page === 3) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'down' });
      return undefined;
    };
    await expect(walk()).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    // On page 1, which the walk has passed.
    api.before = () => ({ list: 'people', records: [person('early'), person('p0')], nextCursor: '2', bytes: 0 });
    expect(await read({ page: 1 })).toMatchObject({ created: ['early'] });
    api.before = () => undefined;
    await sweep();
    expect((await store.membership('people')).missing.size).toBe(0);
    // The next walk is the first that must show it.
    await walk();
    expect((await store.membership('people')).missing.size).toBe(1);
    expect(await eventLines()).toEqual(['created early 1']);
  });

  it('survives a process that is killed between a walk taking it over and its first page', async () => {
    const { api, read, walk, store, eventLines } = await walkedCase(redis, people(5));
    api.records = [...people(5), person('brief')];
    await read({ page: 3 });
    api.records = people(5);
    const lease = await store.acquire('people', 60_000);
    const token = lease.outcome === 'acquired' ? lease.token : '';
    await store.beginWalk('people', token);
    await store.beginWalk('people', token);
    await store.release('people', token);
    for (let round = 0; round < 3; round += 1) await walk();
    expect(await eventLines()).toEqual(['created brief 1', 'deleted brief 2']);
  });
});

describe('shortcut: a page that a walk recognises by its bytes', () => {
  const stored = async (page: number): Promise<unknown> =>
    JSON.parse((await redis.redis.hget(redis.keys.pages('acme', 'people'), String(page))) ?? '{}');
  const remember = async (page: number): Promise<void> => {
    await redis.redis.hset(
      redis.keys.pages('acme', 'people'),
      page,
      JSON.stringify({ cursor: null, nextCursor: 'digest":"d"', digest: 'd', records: 0, firstPage: null }),
    );
  };

  it('is recognised no longer once a record of it was rewritten, and keeps its cursor', async () => {
    const { api, read } = await walkedCase(redis, people(6));
    await remember(1);
    await remember(2);
    api.records = [...replace(people(6), edited(person('p2'))), person('late')];
    await read({ page: 2 });
    const cursors = { cursor: null, nextCursor: 'digest":"d"' };
    expect([await stored(1), await stored(2)]).toMatchObject([
      { digest: 'd', ...cursors },
      { digest: '', ...cursors },
    ]);
  });

  it('leaves a record to the walk that has seen it on another page', async () => {
    const { api, read, walk, store, eventLines } = await walkedCase(redis, people(6));
    // The walk sees p0 and p1 in the place of p2 and p3, and stops.
    const moved = [person('p2'), person('p3'), person('p0'), person('p1'), person('p4'), person('p5')];
    api.records = moved;
    api.before = (_cursor, page) => {
      if (page === 3) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'down' });
      return undefined;
    };
    await expect(walk()).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    expect((await store.membership('people')).changed.size).toBe(2);
    api.before = () => undefined;
    api.records = replace(people(6), edited(person('p0')));
    expect(await read({ page: 1 })).toMatchObject({ rewritten: [], left: 1 });
    expect(await eventLines()).toEqual([]);
  });

  it('commits a field that is filled for the first time where the rest of the page shows that the schema stayed', async () => {
    const many = people(60);
    const { api, read, eventLines } = await walkedCase(redis, many, 30);
    const filled = (id: string): UncheckedRecord => ({ ...person(id), '최근 작성된 노트': 'A first memo' });
    api.records = many.map((one) => (one['id'] === 'p3' ? filled('p3') : one));
    expect(await read({ page: 1 })).toMatchObject({ rewritten: ['p3'], left: 0 });
    expect(await eventLines()).toEqual(['updated p3 1']);
    api.records = many.map((one) => (Number(String(one['id']).slice(1)) < 30 ? filled(String(one['id'])) : one));
    // Each row of the page: that may be a change of the schema, which only a sweep can tell.
    expect(await read({ page: 1 })).toMatchObject({ rewritten: [], left: 29 });
    expect(await eventLines()).toEqual(['updated p3 1']);
  });
});
