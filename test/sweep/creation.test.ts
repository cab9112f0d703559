import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { listedApi } from '../support/listed.js';
import { useRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

const person = (id: string, name = id): UncheckedRecord => ({
  id,
  이름: name,
  '수정 날짜': '2026-03-01T00:00:00.000Z',
});
const people = (count: number, prefix = 'p'): UncheckedRecord[] =>
  Array.from({ length: count }, (_, index) => person(`${prefix}${index}`));
const OFF = { maxShare: 1, maxCount: 100 };

describe('creations: a small list that was replaced', () => {
  const redis = useRedis();

  it('is held, and reports neither new nor missing records', async () => {
    const api = listedApi(people(50), 7);
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep();
    api.records = people(50, 'other');
    const { counts, heldCreations, heldRemovals: held } = await sweep();
    expect(counts).toMatchObject({ seen: 50, created: 0, withheld: 50, missing: 50 });
    expect(heldCreations).toMatchObject({ count: 50, of: 50, known: { seen: 0, of: 50 }, replaced: true });
    expect(held).toMatchObject({ count: 50, of: 50 });
    await sweep();
    expect((await sweep()).heldCreations).toMatchObject({ count: 50, known: { seen: 0, of: 50 } });
    expect(await eventLines()).toEqual([]);
  });

  it('stores nothing of the withheld records', async () => {
    const api = listedApi(people(50), 7);
    const { sweep, store } = sweptList(redis, api);
    await sweep();
    api.records = people(50, 'other');
    await sweep();
    expect(await store.records('people', ['other0', 'other49'])).toEqual([null, null]);
    expect((await store.schema('people')).rows).toBe(50);
  });

  it('ends when the old records are back', async () => {
    const api = listedApi(people(50), 7);
    const { sweep, eventLines, store } = sweptList(redis, api);
    await sweep();
    api.records = people(50, 'other');
    await sweep();
    await sweep();
    api.records = people(50);
    const { counts, heldRemovals: held, heldCreations } = await sweep();
    expect(counts).toMatchObject({ seen: 50, unchanged: 50, withheld: 0, missing: 0 });
    expect([held, heldCreations]).toEqual([undefined, undefined]);
    expect(await eventLines()).toEqual([]);
    expect((await store.membership('people')).missing.size).toBe(0);
  });

  it('holds its removals too, even if they are too few for their own guard', async () => {
    const api = listedApi(people(10), 7);
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep();
    api.records = people(8, 'other');
    await sweep();
    expect(await sweep()).toMatchObject({ heldRemovals: { count: 10, of: 10 }, heldCreations: { count: 8 } });
    expect(await eventLines()).toEqual([]);
  });

  it('floods when the guard is switched off (control)', async () => {
    const api = listedApi(people(50), 7);
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep({ creations: OFF });
    api.records = people(50, 'other');
    await sweep({ creations: OFF });
    expect(await eventLines()).toHaveLength(50);
  });
});

describe('creations: held ones', () => {
  const redis = useRedis();

  it('are reported by the next complete sweep once a person has accepted them', async () => {
    const api = listedApi(people(20), 7);
    const { sweep, eventLines, store } = sweptList(redis, api);
    await sweep();
    api.records = [...people(150, 'new'), ...people(20)];
    expect((await sweep()).heldCreations).toMatchObject({ count: 150, of: 170, reported: 0, replaced: false });
    expect(await store.acceptCreations('people')).toBe(150);
    const { counts, heldCreations } = await sweep();
    expect([counts.created, counts.withheld, heldCreations]).toEqual([150, 0, undefined]);
    expect(await eventLines()).toEqual(people(150, 'new').map(({ id }) => `created ${String(id)} 1`));
    expect(await store.acceptCreations('people')).toBe(0);
    await sweep();
    expect(await eventLines()).toHaveLength(150);
  });

  it('stay held although some were reported before they became too many', async () => {
    const api = listedApi(people(20), 7);
    const { sweep, eventLines, store } = sweptList(redis, api);
    await sweep();
    api.records = [...people(20), ...people(300, 'new')];
    const { reported, count } = (await sweep()).heldCreations!;
    expect(reported + count).toBe(300);
    for (let sweeps = 0; sweeps < 3; sweeps += 1)
      expect((await sweep()).heldCreations).toMatchObject({ reported, count, known: { seen: 20, of: 20 } });
    expect(await eventLines()).toHaveLength(reported);
    expect(reported).toBeLessThanOrEqual(100);
    await store.acceptCreations('people');
    expect((await sweep()).heldCreations).toBeUndefined();
    expect(await eventLines()).toEqual(people(300, 'new').map(({ id }) => `created ${String(id)} 1`));
  });

  it('of a replaced list are reported when accepted; removals wait for accept-removals', async () => {
    const api = listedApi(people(50), 7);
    const { sweep, eventLines, store } = sweptList(redis, api);
    await sweep();
    api.records = people(50, 'other');
    await sweep();
    await store.acceptCreations('people');
    expect((await sweep()).counts).toMatchObject({ created: 50, deleted: 0, missing: 50 });
    await store.acceptRemovals('people');
    expect((await sweep()).counts).toMatchObject({ unchanged: 50, deleted: 50 });
    expect(await eventLines()).toHaveLength(100);
  });

  it('are accepted while a sweep is under way, too', async () => {
    const api = listedApi(people(20), 7);
    const { sweep, eventLines, store } = sweptList(redis, api);
    await sweep();
    api.records = [...people(150, 'new'), ...people(20)];
    await sweep();
    let accepted = 0;
    api.before = async (_cursor, page) => {
      if (page === 20 && accepted === 0) accepted = await store.acceptCreations('people');
      return undefined;
    };
    expect((await sweep()).counts).toMatchObject({ created: 150, withheld: 0 });
    expect(accepted).toBe(150);
    expect(await eventLines()).toHaveLength(150);
  });

  it('accepted do not accept a far greater number that comes later', async () => {
    const api = listedApi(people(20), 50);
    const { sweep, eventLines, store } = sweptList(redis, api);
    await sweep();
    api.records = [...people(20), ...people(150, 'new')];
    await sweep();
    await store.acceptCreations('people');
    api.records = [...people(20), ...people(900, 'more')];
    expect((await sweep()).heldCreations).toBeDefined();
    expect((await eventLines()).length).toBeLessThan(300);
  });

  it('are stored without events by a resync, and missing records are dropped', async () => {
    const api = listedApi(people(50), 7);
    const { sweep, eventLines, store } = sweptList(redis, api);
    await sweep();
    api.records = people(50, 'other');
    await sweep();
    await sweep();
    await store.forgetBaseline('people');
    expect(await sweep()).toMatchObject({ mode: 'baseline', counts: { baselined: 50, missing: 0 } });
    api.records = [person('other0', 'edited'), ...people(50, 'other').slice(1)];
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep();
    expect(await eventLines()).toEqual(['updated other0 1']);
    expect((await store.schema('people')).rows).toBe(50);
  });

  it('that were deleted before reappear once they are accepted', async () => {
    const api = listedApi(people(40), 7);
    const { sweep, eventLines, store } = sweptList(redis, api);
    const removals = { confirm: 1, afterMs: 0, maxShare: 1, maxCount: 1_000 };
    await sweep({ removals });
    api.records = people(2);
    await sweep({ removals });
    expect((await eventLines()).length).toBe(38);
    api.records = people(40);
    const creations = { maxShare: 0.5, maxCount: 10 };
    // Just as they were: the first sweep doubts them, the second is certain and holds them.
    expect((await sweep({ creations })).counts).toMatchObject({ stale: 38, withheld: 0 });
    const { count, reported } = (await sweep({ creations })).heldCreations!;
    expect(count + reported).toBe(38);
    expect((await sweep({ creations })).counts).toMatchObject({ created: 0, withheld: count });
    await store.acceptCreations('people');
    expect((await sweep({ creations })).counts).toMatchObject({ created: count, withheld: 0 });
    const back = people(40).slice(2);
    expect((await eventLines()).slice(38)).toEqual(back.map(({ id }) => `created ${String(id)} 2`));
  });
});
