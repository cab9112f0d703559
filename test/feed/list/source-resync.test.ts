import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { createMirrorStore } from '../../../src/ops/server/mirror/mirror-store.js';
import { dyingStore } from '../../support/dying-store.js';
import { people, person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined } from '../../support/swept-list.js';

const AT = '2026-03-01T00:00:00.000Z';

const OLD = { source: 'https://old.example/api' };
const NEW = { source: 'https://new.example/api' };
describe('resync: at another address', () => {
  const redis = useRedis();
  const mirrored = () => createMirrorStore(redis.redis, redis.keys, 'acme').keys('people');

  it('takes the new source with a quiet baseline, and drops what it does not show', async () => {
    const { show, sweep, eventLines, store } = await baselined(redis, people(12), { pageSize: 5, ...OLD });
    await show(people(11), OLD);
    await expect(show([person('p0', 'other'), ...people(3, 'other')], NEW)).rejects.toMatchObject({
      code: 'CF_SOURCE_CHANGED',
    });
    await store.forgetBaseline('people');
    expect(await sweep(NEW)).toMatchObject({
      mode: 'baseline',
      counts: { seen: 4, baselined: 4, missing: 0, deleted: 0 },
    });
    for (let sweeps = 0; sweeps < 3; sweeps += 1)
      expect(await sweep(NEW)).toMatchObject({ mode: 'changes', counts: { unchanged: 4, missing: 0 } });
    expect(await eventLines()).toEqual([]);
    expect((await store.schema('people')).rows).toBe(4);
    expect((await store.membership('people')).missing.size).toBe(0);
    expect((await mirrored()).sort()).toEqual(['other0', 'other1', 'other2', 'p0']);
  });

  it('continues the sequence of a stored id, also when a dropped one reappears', async () => {
    const { api, show, sweep, eventLines, store } = await baselined(redis, people(3), { pageSize: 5, ...OLD });
    await show(
      people(3).map(({ id }) => person(String(id), 'edited')),
      OLD,
    );
    api.records = [person('p0', 'other')];
    await store.forgetBaseline('people');
    await sweep(NEW);
    await show([person('p0', 'other, edited')], NEW);
    api.records = people(3);
    await store.forgetBaseline('people');
    await sweep(OLD);
    await sweep(OLD);
    await show(
      people(3).map(({ id }) => person(String(id), 'edited again')),
      OLD,
    );
    expect((await eventLines()).slice(3)).toEqual(['updated p0 2', 'updated p0 3', 'updated p1 2', 'updated p2 2']);
  });

  it('reports a dropped record as created when a later sweep shows it', async () => {
    const { api, show, sweep, events, store } = await baselined(redis, people(3), { pageSize: 5, ...OLD });
    api.records = people(1);
    await store.forgetBaseline('people');
    await sweep(NEW);
    await show(people(2), NEW);
    expect((await events()).map(({ type, subject, data }) => [type, subject, data.sequence, data.reappeared])).toEqual([
      ['crm.person.created', 'p1', 1, undefined],
    ]);
  });

  it('drops the timers of todos that it does not show', async () => {
    const todo = (id: string): UncheckedRecord => ({
      id,
      내용: id,
      완료: false,
      '마지막 날짜': '2099-03-01T09:00:00.000Z',
      '수정 날짜': AT,
    });
    const watch = { timeZone: 'Asia/Seoul', dueSoonMs: 86_400_000 };
    const { api, sweep, store } = await baselined(redis, [todo('a'), todo('b')], {
      pageSize: 5,
      list: 'todo',
      ...OLD,
      watch,
    });
    const timers = () => redis.redis.zrange(redis.keys.due('acme'), '0', '-1');
    const before = await timers();
    api.records = [todo('c')];
    await store.forgetBaseline('todo');
    await sweep({ ...NEW, watch });
    expect(before.filter((one) => /[ab]$/.test(one)).length).toBeGreaterThan(0);
    expect((await timers()).filter((one) => /[ab]$/.test(one))).toEqual([]);
  });

  it('drops rows that are known by their content', async () => {
    const rows = (prefix: string): UncheckedRecord[] =>
      people(4).map((_, nth) => ({ type: 'memoCreate', text: `${prefix}${nth}` }));
    const { api, sweep, eventLines, store } = await baselined(redis, rows('old'), {
      pageSize: 5,
      list: 'activity',
      ...OLD,
    });
    api.records = rows('new');
    await store.forgetBaseline('activity');
    await sweep(NEW);
    await sweep(NEW);
    expect((await store.schema('activity')).rows).toBe(4);
    expect(await eventLines()).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5, 6])('may be killed at write %i and resumed', async (fatal) => {
    const { api, sweep, eventLines, store } = await baselined(redis, people(12), { pageSize: 5, ...OLD });
    api.records = people(7, 'other');
    await store.forgetBaseline('people');
    const { dying, writes } = dyingStore(store, fatal);
    await sweep({ ...NEW, store: dying }).catch(() => undefined);
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep(NEW);
    expect(await eventLines()).toEqual([]);
    expect((await store.schema('people')).rows).toBe(7);
    expect(writes()).toBeGreaterThanOrEqual(Math.min(fatal, 5));
  });
});
