import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import type { SweepStore } from '../../../src/feed/store/sweep-store.js';
import { dyingStore } from '../../support/dying-store.js';
import { listedApi } from '../../support/listed.js';
import { people, person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

const redis = useRedis();

describe('removal: a record that is no longer in the list', () => {
  it('is not deleted while it is so new that a lagging replica may lack it', async () => {
    const { api, show, sweep, eventLines } = await baselined(redis, people(5));
    await show(people(6));
    api.records = people(5);
    for (let round = 0; round < 4; round += 1) await sweep({ minutesLater: 0 });
    expect(await eventLines()).toEqual(['created p5 1']);
    await sweep();
    expect(await eventLines()).toEqual(['created p5 1', 'deleted p5 2']);
  });

  it('is created again when it reappears changed, with the next sequence and reappeared: true', async () => {
    const { show, sweep, eventLines, events } = await baselined(redis, people(3));
    await show(people(2));
    await sweep();
    await show([...people(2), { ...person('p2', 'back'), '수정 날짜': '2026-04-01T00:00:00.000Z' }]);
    expect(await eventLines()).toEqual(['deleted p2 1', 'created p2 2']);
    expect((await events())[1]?.data).toMatchObject({ reappeared: true, before: null });
    await show(people(2));
    await sweep();
    expect((await eventLines()).at(-1)).toBe('deleted p2 3');
  });

  it('is left alone for ten minutes when it reappears with its old time: a lagging replica shows that', async () => {
    const { show, sweep, eventLines } = await baselined(redis, people(3));
    await show(people(2));
    await sweep();
    expect((await show(people(3))).counts).toMatchObject({ unchanged: 3, created: 0 });
    await show(people(2));
    await sweep();
    expect(await eventLines()).toEqual(['deleted p2 1']);
    await show(people(3), { minutesLater: 7 });
    expect(await eventLines()).toEqual(['deleted p2 1', 'created p2 2']);
  });
});

describe('removal: a sweep that is stopped while it is finished', () => {
  /** Killed right after the commit of the last page. */
  const stopping = (store: SweepStore): SweepStore => ({
    ...store,
    async commit(list, step) {
      const result = await store.commit(list, step);
      if (step.checkpoint?.finishing === true) throw new Error('killed');
      return result;
    },
  });

  it('decides nothing: records of a list that was empty for a moment are not deleted', async () => {
    const { show, sweep, eventLines, store } = await baselined(redis, people(8));
    await show([]);
    await expect(sweep({ store: stopping(store), minutesLater: 0 })).rejects.toThrow('killed');
    expect((await show(people(8))).counts).toMatchObject({ seen: 8, missing: 0 });
    await sweep();
    expect(await eventLines()).toEqual([]);
  });

  it('is deleted although its first look was by a clock that was ahead, thirty seconds after the next', async () => {
    const { show, sweep, eventLines } = await baselined(redis, people(5));
    await show(people(4), { minutesLater: 120 });
    await sweep({ minutesLater: -120 });
    expect(await eventLines()).toEqual([]);
    await sweep();
    expect(await eventLines()).toEqual(['deleted p4 1']);
  });
});

it('removal: pages that show a record twice count it once', async () => {
  const { show, sweep, eventLines } = await baselined(redis, people(4));
  const [a, b, c, d] = people(4) as [UncheckedRecord, UncheckedRecord, UncheckedRecord, UncheckedRecord];
  expect((await show([a, b, b, c, d])).counts).toMatchObject({ seen: 4, unchanged: 4 });
  await show([a, b, c, d]);
  await sweep();
  expect(await eventLines()).toEqual([]);
});

describe('removal: too many at once', () => {
  it('are held, and reported once a person has accepted them', async () => {
    const { show, sweep, eventLines, store } = await baselined(redis, people(40));
    await show(people(20));
    const { held, counts } = await sweep();
    await sweep();
    expect(await eventLines()).toEqual([]);
    expect(held).toMatchObject([{ what: 'removals', why: 'too many', count: 20, of: 40 }]);
    expect(counts).toMatchObject({ missing: 20, deleted: 0 });

    expect(await store.acceptHeld('people')).toHaveLength(1);
    expect(await sweep()).toMatchObject({ counts: { deleted: 20, missing: 0 } });
    expect(await eventLines()).toHaveLength(20);
    expect(await store.acceptHeld('people')).toEqual([]);
  });

  it('are forgotten once a person has discarded them: a further one that is missing is reported alone', async () => {
    const { show, sweep, eventLines, store } = await baselined(redis, people(40));
    await show(people(20));
    await sweep();
    expect(await store.someMissing('people', 3)).toHaveLength(3);
    expect(await store.discardHeld('people')).toMatchObject([{ what: 'removals', count: 20 }]);
    const held = await redis.redis.hgetall(redis.keys.missing('acme', 'people'));
    expect(await sweep()).toMatchObject({ counts: { deleted: 0, missing: 0 } });
    // As a sweep does that was being finished when they were discarded.
    await redis.redis.hset(redis.keys.missing('acme', 'people'), held);
    expect(await sweep()).toMatchObject({ counts: { deleted: 0, missing: 0 } });
    await show(people(19));
    const { held: heldNow, counts } = await sweep();
    expect([heldNow, counts.deleted]).toEqual([undefined, 1]);
    // Those that are back are as they were stored.
    await show([...people(19), ...people(25).slice(20)]);
    expect((await eventLines()).map((line) => line.split(' ')[0])).toEqual(['deleted']);
  });

  it('are no longer held when the records are back', async () => {
    const { show, sweep, eventLines } = await baselined(redis, people(40));
    await show([]);
    expect((await sweep()).held).toMatchObject([{ count: 40 }]);
    expect((await show(people(40))).held).toBeUndefined();
    expect(await eventLines()).toEqual([]);
  });

  it('that are accepted do not include records that another process, whose clock is behind, misses later', async () => {
    const { api, show, sweep, eventLines, store } = await baselined(redis, people(60));
    await show(people(40), { minutesLater: 10 });
    await sweep();
    await store.acceptHeld('people');
    api.records = people(20);
    // Its clock does not say when they were first missed: the thirty seconds begin here.
    expect((await sweep({ minutesLater: -5 })).counts).toMatchObject({ deleted: 0, missing: 40 });
    expect((await sweep()).counts).toMatchObject({ deleted: 20, missing: 20 });
    expect((await sweep({ minutesLater: 10 })).held).toMatchObject([{ count: 20 }]);
    expect(await eventLines()).toHaveLength(20);
  });
});

it('removal: a merge is reported with the removal when an activity names both, and not when it names several', async () => {
  const api = listedApi(people(6));
  const activities = listedApi([]);
  const { sweep, events } = sweptList(redis, api);
  const activity = sweptList(redis, activities, 'activity');
  await sweep();
  await activity.sweep();
  activities.records = [
    { id: 'x1', type: 'merge', date: '2026-03-02T00:00:00.000Z', peopleId: 'p0', mergedPeopleId: 'p4' },
    { id: 'x2', type: 'merge', date: '2026-03-02T00:00:00.000Z', peopleId: 'p1', others: ['p2', 'p5'] },
    { id: 'x3', type: 'memoCreate', date: '2026-03-02T00:00:00.000Z', peopleId: 'p3', note: 'p5' },
  ];
  await activity.sweep();
  api.records = people(4);
  await sweep();
  await sweep();
  const deleted = (await events()).filter(({ type }) => type === 'crm.person.deleted');
  expect(Object.fromEntries(deleted.map(({ subject, data }) => [subject, data.mergedInto]))).toEqual({
    p4: 'p0',
    p5: undefined,
  });
});

it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'removal: a crash while a sweep is being finished loses and repeats nothing (at write %i)',
  async (fatal) => {
    const { api, show, sweep, eventLines, store } = await baselined(redis, people(30));
    await show([...people(30).slice(4), person('new')]);
    api.records = people(30).slice(5);
    const { dying } = dyingStore(store, fatal);
    await sweep({ store: dying }).catch(() => undefined);
    await sweep();
    await sweep();
    await sweep();
    expect((await eventLines()).sort()).toEqual([
      'created new 1',
      'deleted new 2',
      ...['p0', 'p1', 'p2', 'p3', 'p4'].map((id) => `deleted ${id} 1`),
    ]);
  },
);
