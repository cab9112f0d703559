import { describe, expect, it } from 'vitest';
import { openChangefeed } from '../../src/service/changefeed.js';
import { parseConfig } from '../../src/config/parse.js';
import { dayCounts, readDays } from '../../src/log/day-counts.js';
import { overviewOf } from '../../src/log/overview.js';
import { createSweepStore } from '../../src/feed/store/sweep-store.js';
import { miscounted } from '../support/day-counts.js';
import { listedApi } from '../support/listed.js';
import { useRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

const person = (id: string, at: number, more: object = {}) => ({
  ...{ id, 이름: id, '수정 날짜': new Date(at).toISOString(), 담당자: { id: 'u1', name: '김영업' } },
  ...more,
});

describe('overview', () => {
  const redis = useRedis();

  it('overview: the days count what the log has, in the time zone of the workspace', async () => {
    const store = createSweepStore(redis.redis, redis.keys, 'acme', { timeZone: 'Pacific/Kiritimati' });
    const list = sweptList(redis, listedApi([]), 'people');
    const start = list.clock.now();
    await list.show([person('a', start), person('b', start)], { store });
    await list.show([person('a', start + 1, { 등급: 'A' }), person('b', start)], { store });
    await list.show([person('a', start + 2, { 등급: 'B', 점수: 1 }), person('b', start), person('c', start + 3)], {
      store,
    });
    const [key = ''] = await redis.redis.keys(redis.keys.day('acme', '*'));
    const day = key.slice(redis.keys.day('acme', '').length);
    expect(day).toBe(new Intl.DateTimeFormat('sv-SE', { timeZone: 'Pacific/Kiritimati' }).format(list.clock.now()));
    const [counted] = await readDays({ ...place(), workspace: 'acme' }, [day]);
    expect(Object.fromEntries([...(counted ?? [])].map(([what, count]) => [what.join(' '), count]))).toEqual({
      'event crm.person.updated edited': 2,
      'event crm.person.created edited': 1,
      'owner person u1 김영업': 3,
      'field person 등급': 2,
      'field person 점수': 1,
    });
    expect(await redis.redis.pttl(key)).toBeGreaterThan(399 * 86_400_000);
  });

  const place = () => ({ redis: redis.redis, keys: redis.keys });

  it('overview: a period is compared with as many days before, and a person who is called otherwise now is one', () => {
    const edit = (type: string, observedAt: string, name: string, field: string) =>
      ({
        type,
        data: {
          observedAt,
          class: 'edited',
          before: null,
          after: { id: 'x', 담당자: { id: 'u1', name } },
          changes: [{ field }],
        },
      }) as never;
    const of = (events: never[]) =>
      dayCounts(events, { keys: redis.keys, workspace: 'acme', timeZone: 'Asia/Seoul' }).map(
        ({ added }) => new Map([...added].map(([field, count]) => [JSON.parse(field) as never, count])),
      );
    const found = overviewOf({
      counts: (object) => object !== 'person_history',
      dates: ['2026-11-29'],
      days: of([
        edit('crm.person.updated', '2026-11-28T15:00:00.000Z', '김새이름', '등급'),
        edit('crm.person.updated', '2026-11-29T14:59:59.999Z', '김새이름', '등급'),
        edit('crm.person_history.created', '2026-11-29T01:00:00.000Z', '김새이름', '등급'),
      ]),
      before: of([edit('crm.person.created', '2026-11-28T14:59:59.999Z', '김영업', '이름')]),
    });
    expect(found).toEqual({
      days: [{ date: '2026-11-29', types: { 'crm.person.updated': 2 } }],
      types: [
        { type: 'crm.person.updated', count: 2, before: 0 },
        { type: 'crm.person.created', count: 0, before: 1 },
      ],
      owners: [{ id: 'u1', name: '김새이름', count: 2, before: 1 }],
      fields: [
        { object: 'person', field: '등급', count: 2, before: 0 },
        { object: 'person', field: '이름', count: 0, before: 1 },
      ],
    });
  });

  it('overview: a feed answers by workspace, and refuses days that are none', async () => {
    const list = sweptList(redis, listedApi([]), 'people');
    const start = list.clock.now();
    await list.show([]);
    await list.show([person('a', start)]);
    expect(await miscounted(redis)).toEqual([]);
    const feed = await openChangefeed({
      config: parseConfig({
        workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1/api', token: 't', timeZone: 'UTC' }],
        redis: { url: redis.url, prefix: redis.keys.prefix },
      }),
    });
    try {
      const { workspaces } = await feed.overview({ days: 3 });
      const [acme] = workspaces;
      expect(acme?.days.map(({ types }) => types)).toContainEqual({ 'crm.person.created': 1 });
      expect(acme).toMatchObject({
        owners: [{ id: 'u1', count: 1, before: 0 }],
        logFrom: expect.any(String) as string,
      });
      expect(acme?.days).toHaveLength(3);
      await expect(feed.overview({ days: 0 })).rejects.toThrow('overview: days: give a whole number from 1 to 366.');
      await expect(feed.overview({ workspace: 'other' })).rejects.toThrow('There is no workspace "other"');
    } finally {
      await feed.stop();
    }
  });
});
