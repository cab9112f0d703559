import { afterEach, describe, expect, it } from 'vitest';
import { builtInLists } from '../../../src/crm/lists/lists.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import type { Stretch } from '../../../src/events/unchanged.js';
import { privacyStore } from '../../../src/feed/store/privacy.js';
import { tellUnchanged } from '../../../src/feed/unchanged/tell.js';
import { createUnchangedStore } from '../../../src/feed/unchanged/unchanged-store.js';
import { createLogReader } from '../../../src/log/event-log.js';
import { miscounted } from '../../support/day-counts.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const DAY_MS = 86_400_000;
const DAY = 24 * 60;
const RECORD: Stretch = { field: null, related: [], forMs: 14 * DAY_MS, days: 'calendar' };
const STAGE: Stretch = { ...RECORD, field: '단계' };

describe('unchanged', () => {
  const redis = useRedis();
  afterEach(async () => {
    expect(await miscounted(redis), 'the days count what the log has').toEqual([]);
  });

  const open = async (shown: UncheckedRecord[], stretches: readonly Stretch[] = [RECORD]) => {
    const api = listedApi(shown);
    const list = sweptList(redis, api, 'people');
    const scope = { redis: redis.redis, keys: redis.keys, workspace: 'acme' };
    const log = createLogReader({ ...redis, connect: () => redis.connect() });
    const tell = (asked = stretches, store = createUnchangedStore(scope)): Promise<number> =>
      tellUnchanged(
        asked.map((stretch) => ({ list: 'people', stretch })),
        { scope, store, log, clock: list.clock, timeZone: 'Asia/Seoul', lists: builtInLists },
      );
    /** Sweeps so many days later, and tells. */
    const after = async (days: number, records = api.records, options = {}): Promise<number> => {
      api.records = records;
      await list.sweep({ ...options, minutesLater: days * DAY });
      return await tell();
    };
    const told = async () => (await list.events()).filter(({ type }) => type === 'crm.person.unchanged');
    await after(0);
    return { ...list, api, tell, after, told, start: list.clock.now(), scope };
  };
  const at = (days: number, from = Date.now()): string => new Date(from + days * DAY_MS).toISOString();
  const person = (id: string, stage: string, changedAt = at(0)): UncheckedRecord => ({
    ...{ id, 이름: id, 단계: stage, '수정 날짜': changedAt, '최근 노트 작성일': null },
  });

  it('unchanged: a record that nobody has changed for so long is told once, and again only after it has changed', async () => {
    const list = await open([person('a', '1'), person('b', '1')]);
    expect(await list.after(7, [person('a', '2', at(7)), person('b', '1')])).toBe(0);
    expect(await list.after(6.9)).toBe(0);
    expect(await list.after(0.2)).toBe(1);
    expect(await list.after(5)).toBe(0);
    expect(await list.after(3)).toBe(1);
    expect(await list.after(50)).toBe(0);
    expect(await list.after(1, [person('a', '3', at(73.1)), person('b', '1')])).toBe(0);
    expect(await list.after(15)).toBe(1);
    const [b, a, again] = await list.told();
    expect([b, a, again].map((one) => one?.subject)).toEqual(['b', 'a', 'a']);
    expect(b).toMatchObject({
      data: {
        ...{ before: null, changes: [], sequence: 0, detectedBy: 'clock', after: { id: 'b', 단계: '1' } },
        unchanged: { for: '14d', days: 'calendar', field: null, related: [], seen: false },
      },
    });
    expect(a).toMatchObject({ data: { sequence: 1, unchanged: { seen: true } } });
    expect(Date.parse(a!.time) - Date.parse(a!.data.unchanged!.since)).toBe(14 * DAY_MS);
    expect(new Set([b?.id, a?.id, again?.id]).size).toBe(3);
  });

  it('unchanged: a field is unchanged while others change, and what the system counts is no change of a record', async () => {
    const list = await open([person('a', '1')], [RECORD, STAGE]);
    await list.after(10, [{ ...person('a', '1', at(10)), 이름: 'renamed' }]);
    expect(await list.after(4.1)).toBe(1);
    expect((await list.told()).map(({ data }) => data.unchanged?.field)).toEqual(['단계']);
    expect(await list.after(9, [{ ...person('a', '1', at(10)), 이름: 'renamed', '최근 노트 작성일': at(20) }])).toBe(0);
    expect(await list.after(1)).toBe(1);
    expect((await list.told()).map(({ data }) => data.unchanged?.field)).toEqual(['단계', null]);
  });

  it('unchanged: what is unchanged for longer when it is asked for the first time is not told', async () => {
    const list = await open([person('old', '1', at(-30)), person('young', '1', at(-13))]);
    expect(await list.after(0.1)).toBe(0);
    expect(await list.after(1)).toBe(1);
    expect((await list.told()).map(({ subject }) => subject)).toEqual(['young']);
  });

  it('unchanged: a record is told once, however many processes tell', async () => {
    const records = Array.from({ length: 450 }, (_, nth) => person(`p${nth}`, '1', at(-0.01 * (nth % 7))));
    const list = await open(records);
    await list.sweep({ minutesLater: 14 * DAY });
    const told = await Promise.all([list.tell(), list.tell(), list.tell()]);
    const more = await list.tell();
    expect(told.reduce((sum, one) => sum + one, more)).toBe(450);
    expect(new Set((await list.told()).map(({ subject }) => subject)).size).toBe(450);
  });

  it('unchanged: an event that is logged once more after a loss has the same id', async () => {
    const list = await open([person('a', '1')]);
    const stored = await list.scope.redis.hgetall(list.scope.keys.unchanged('acme'));
    await list.after(15);
    await list.scope.redis.hset(list.scope.keys.unchanged('acme'), stored);
    expect(await list.tell()).toBe(1);
    const [first, second] = await list.told();
    expect(second?.id).toBe(first?.id);
  });

  it('unchanged: nothing is told of a record that is removed or erased, nor before a sweep has begun after the moment', async () => {
    const list = await open([person('a', '1'), person('removed', '1'), person('erased', '1')]);
    await list.after(5, [person('a', '1'), person('erased', '1')]);
    await list.after(1);
    await privacyStore(list.scope).erase('people', 'erased', { pages: [], schema: new Map(), isDiscarded: false });
    await list.sweep({ minutesLater: 1 });
    const later = { ...list.clock, now: () => list.clock.now() + 9 * DAY_MS };
    const log = createLogReader({ ...redis, connect: () => redis.connect() });
    const of = {
      scope: list.scope,
      store: createUnchangedStore(list.scope),
      log,
      timeZone: 'UTC',
      lists: builtInLists,
    };
    expect(await tellUnchanged([{ list: 'people', stretch: RECORD }], { ...of, clock: later })).toBe(0);
    await list.after(8.5);
    expect((await list.told()).map(({ subject }) => subject)).toEqual(['a']);
  });

  it('unchanged: nothing refers to a record for so long, such as a memo', async () => {
    const related: Stretch = { ...RECORD, related: ['memo'] };
    const list = await open([person('a', '1'), person('b', '1')], [related]);
    const api = listedApi([]);
    const memos = sweptList(redis, api, 'memo');
    await memos.sweep({ minutesLater: 1 });
    await list.tell();
    api.records = [{ id: 'm1', text: 'called', date: at(10), 수정날짜: at(10), peopleId: 'a' }];
    await memos.sweep({ minutesLater: 10 * DAY });
    await list.sweep({ minutesLater: 10 * DAY });
    await memos.sweep({ minutesLater: 4.5 * DAY });
    expect(await list.after(4.5, [{ ...person('a', '2', at(12)) }, person('b', '1')])).toBe(1);
    await memos.sweep({ minutesLater: 11 * DAY });
    expect(await list.after(11)).toBe(1);
    expect((await list.told()).map(({ subject, data }) => [subject, data.unchanged?.related])).toEqual([
      ['b', ['memo']],
      ['a', ['memo']],
    ]);
  });

  it('unchanged: a stretch begins quietly also where a list that it looks at is swept later', async () => {
    const list = await open([person('old', '1', at(-90))], [{ ...RECORD, related: ['memo'] }]);
    expect(await list.after(1)).toBe(0);
    const memos = sweptList(redis, listedApi([]), 'memo');
    await memos.sweep({ minutesLater: DAY });
    expect(await list.tell()).toBe(0);
    await memos.sweep({ minutesLater: DAY });
    expect(await list.after(1)).toBe(0);
  });

  it('unchanged: a record that is snoozed is told when that ends, if it is unchanged then; told before or not', async () => {
    const people = ['before', 'told', 'changed', 'later', 'erased'].map((id) => person(id, '1'));
    const list = await open(people);
    const store = createUnchangedStore(list.scope);
    const snooze = (record: string, days: number) => store.snooze('people', { record, ms: list.start + days * DAY_MS });
    await list.after(10);
    // Due on the 14th day, and snoozed until the 20th; the last one ends before it is due.
    await Promise.all([snooze('before', 20), snooze('changed', 20), snooze('erased', 20), snooze('later', 12)]);
    await privacyStore(list.scope).erase('people', 'erased', { pages: [], schema: new Map(), isDiscarded: false });
    expect(await redis.redis.zscore(redis.keys.snoozed('acme', 'people'), 'erased')).toBeNull();
    expect(await list.after(5)).toBe(2);
    await snooze('told', 20);
    const changed = people.map((one) => (one['id'] === 'changed' ? person('changed', '2', at(16)) : one));
    expect(await list.after(4, changed)).toBe(0);
    expect(await list.after(2)).toBe(2);
    expect(await list.after(6)).toBe(0);
    expect(await list.after(4)).toBe(1);
    const told = await list.told();
    expect(told.map(({ subject }) => subject).toSorted()).toEqual(['before', 'changed', 'later', 'told', 'told']);
    expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
    const woken = told.filter(({ time }) => Date.parse(time) === list.start + 20 * DAY_MS);
    expect(woken.map(({ subject }) => subject).toSorted()).toEqual(['before', 'told']);
    expect(await redis.redis.exists(redis.keys.snoozed('acme', 'people'))).toBe(0);
  });

  it('unchanged: what is told when a snooze ends is told once, and after a loss under the same id', async () => {
    const list = await open([person('a', '1')]);
    await createUnchangedStore(list.scope).snooze('people', { record: 'a', ms: list.start + 20 * DAY_MS });
    const key = list.scope.keys.unchanged('acme');
    const snoozes = await redis.redis.zrange(redis.keys.snoozed('acme', 'people'), '0', '-1', 'WITHSCORES');
    const stored = await list.scope.redis.hgetall(key);
    await list.sweep({ minutesLater: 21 * DAY });
    const told = await Promise.all([list.tell(), list.tell(), list.tell()]);
    expect(told.reduce((sum, one) => sum + one, 0)).toBe(1);
    await list.scope.redis.hset(key, stored);
    await redis.redis.zadd(redis.keys.snoozed('acme', 'people'), snoozes[1] ?? 0, snoozes[0] ?? '');
    expect(await list.tell()).toBe(1);
    const [first, second] = await list.told();
    expect(second?.id).toBe(first?.id);
  });

  it('unchanged: what nobody asks any more is dropped', async () => {
    const list = await open([person('a', '1')], [RECORD, STAGE]);
    const kept = async (): Promise<number> => (await redis.redis.keys(`${redis.keys.unchanged('acme')}*`)).length;
    await createUnchangedStore(list.scope).snooze('people', { record: 'a', ms: list.start + 20 * DAY_MS });
    expect(await kept()).toBe(3);
    await list.tell([STAGE]);
    expect(await kept()).toBe(2);
    await list.tell([]);
    expect([await kept(), await redis.redis.exists(redis.keys.snoozed('acme', 'people'))]).toEqual([0, 0]);
  });
});
