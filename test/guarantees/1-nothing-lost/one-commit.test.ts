/** Guarantee 1: a record, its event and the checkpoint are committed together, so a crash loses no event. */
import { expect, it } from 'vitest';
import { createSweepStore, type SweepStore } from '../../../src/feed/store/sweep-store.js';
import { listedApi } from '../../support/listed.js';
import { person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const dies = new Error('the process dies here');

const redis = useRedis();

/** A record changes; the process that finds the change dies as `crashing` says; another process sweeps the list. */
async function eventsAfter(crashing: (store: SweepStore) => SweepStore): Promise<string[]> {
  const api = listedApi([person('p1', 'old')]);
  const { sweep, eventLines } = sweptList(redis, api);
  await sweep();
  api.records = [person('p1', 'new')];
  const store = createSweepStore(redis.redis, redis.keys, 'acme');
  await expect(sweep({ store: crashing(store) })).rejects.toThrow(dies.message);
  await redis.redis.del(redis.keys.lease('acme', 'people'));
  await sweep();
  return await eventLines();
}

it.each<[string, (store: SweepStore) => SweepStore]>([
  ['before', (store) => ({ ...store, commit: () => Promise.reject(dies) })],
  [
    'after',
    (store) => ({
      ...store,
      async commit(list, commit) {
        await store.commit(list, commit);
        throw dies;
      },
    }),
  ],
])('nothing lost: a process that dies %s the commit loses and repeats no event', async (_when, crashing) => {
  expect(await eventsAfter(crashing)).toEqual(['updated p1 1']);
});

it('nothing lost: with the event in a second step, the same crash loses it (control)', async () => {
  const events = await eventsAfter((store) => ({
    ...store,
    async commit(list, commit) {
      const writes = commit.writes.map((write) => ({ ...write, event: null }));
      await store.commit(list, { ...commit, writes });
      throw dies;
    },
  }));
  expect(events).toEqual([]);
});
