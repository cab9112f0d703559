/** Guarantee 3: the same change found twice has the same id, and sequences count 1, 2, 3 … */
import { expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import { createSweepStore, type SweepStore } from '../../../src/feed/store/sweep-store.js';
import { listedApi } from '../../support/listed.js';
import { person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const redis = useRedis();

it('stable event ids: the same change found by two processes, the second an hour later, has one id', async () => {
  const api = listedApi([person('p1', 'old')]);
  const { sweep, events } = sweptList(redis, api);
  await sweep();
  api.records = [person('p1', 'new')];
  const store = createSweepStore(redis.redis, redis.keys, 'acme');
  const lost: ChangeEvent[] = [];
  const dying: SweepStore = {
    ...store,
    commit(_list, { writes }) {
      lost.push(...writes.flatMap(({ event }) => event ?? []));
      return Promise.reject(new Error('the process dies here'));
    },
  };
  await expect(sweep({ store: dying })).rejects.toThrow('dies here');
  await redis.redis.del(redis.keys.lease('acme', 'people'));
  await sweep({ minutesLater: 60 });
  const [logged, ...more] = await events();
  expect([lost.length, more.length]).toEqual([1, 0]);
  expect(logged).toMatchObject({ id: lost[0]?.id, data: { sequence: 1 } });
  // An id made of the time of observation would differ.
  expect(logged?.data.observedAt).not.toBe(lost[0]?.data.observedAt);
});

it('stable event ids: the changes of a record are numbered without a gap, and each has its own id', async () => {
  const api = listedApi([person('p1', 'first')]);
  const { sweep, events } = sweptList(redis, api);
  await sweep();
  for (const minute of [1, 2, 3, 4]) {
    const stamp = `2026-03-01T10:0${minute}:05.000Z`;
    api.records = [person('p1', minute % 2 === 0 ? 'even' : 'odd', { '수정 날짜': stamp })];
    await sweep();
  }
  const logged = await events();
  expect(logged.map(({ data }) => data.sequence)).toEqual([1, 2, 3, 4]);
  expect(new Set(logged.map(({ id }) => id)).size).toBe(4);
});
