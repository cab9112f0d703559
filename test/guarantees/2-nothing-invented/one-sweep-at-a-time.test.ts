import { expect, it } from 'vitest';
import { createSweepStore, type SweepStore } from '../../../src/feed/store/sweep-store.js';
import { listedApi } from '../../support/listed.js';
import { person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const redis = useRedis();

/** One process pauses before it commits a page. Its lease expires, another process sweeps the list, and the first one continues. */
async function overtaken(safeguard: (store: SweepStore) => SweepStore) {
  const api = listedApi([person('p1', 'old')]);
  const { sweep, events, eventLines } = sweptList(redis, api);
  await sweep();
  api.records = [person('p1', 'new')];
  const store = safeguard(createSweepStore(redis.redis, redis.keys, 'acme'));
  const [reached, arrive] = moment();
  const [woken, wake] = moment();
  const standing: SweepStore = {
    ...store,
    commit: async (list, commit) => {
      arrive();
      await woken;
      return await store.commit(list, commit);
    },
  };
  const first = sweep({ store: standing }).catch((error: unknown) => (error as { code?: string }).code);
  await reached;
  await redis.redis.del(redis.keys.lease('acme', 'people'));
  api.records = [person('p1', 'newer')];
  await sweep({ store });
  wake();
  const outcome = await first;
  await sweep();
  return { outcome, eventLines: await eventLines(), names: (await events()).map(({ data }) => data.after?.['이름']) };
}

it('lease: a process that lost its lease writes nothing more', async () => {
  expect(await overtaken((store) => store)).toEqual({
    outcome: 'CF_LEASE_LOST',
    eventLines: ['updated p1 1'],
    names: ['newer'],
  });
});

it('lease: without a fencing token the history is reported twice and backwards (control)', async () => {
  const { eventLines, names } = await overtaken((store) => ({
    ...store,
    commit: async (list, commit) => {
      await redis.redis.set(redis.keys.lease('acme', list), commit.token);
      // Which does not know the step before either.
      return await createSweepStore(redis.redis, redis.keys, 'acme').commit(list, commit);
    },
  }));
  expect(eventLines.slice(0, 2)).toEqual(['updated p1 1', 'updated p1 1']);
  expect(names.slice(0, 2)).toEqual(['newer', 'new']);
});

it('lease: a second process does not get it', async () => {
  const { store } = sweptList(redis, listedApi());
  const [first, second] = await Promise.all([store.acquire('people', 60_000), store.acquire('people', 60_000)]);
  expect([first.outcome, second.outcome]).toEqual(['acquired', 'held']);
});

it('lease: without it both processes report the same change (control)', async () => {
  const api = listedApi([person('p1', 'old')]);
  const { sweep, eventLines, store } = sweptList(redis, api);
  await sweep();
  api.records = [person('p1', 'new')];
  const [both, arrive] = moment(2);
  const leaseless: SweepStore = {
    ...store,
    acquire: () => Promise.resolve({ outcome: 'acquired', token: '7' }),
    beginWalk: () => Promise.resolve({ outcome: 'committed', events: 0 }),
    commit: async (list, commit) => {
      arrive();
      await both;
      await redis.redis.set(redis.keys.lease('acme', list), commit.token);
      return await store.commit(list, commit);
    },
  };
  await Promise.allSettled([sweep({ store: leaseless }), sweep({ store: leaseless })]);
  expect(await eventLines()).toEqual(['updated p1 1', 'updated p1 1']);
});

/** Resolves when it has been called this many times. */
function moment(times = 1): [came: Promise<void>, come: () => void] {
  let left = times;
  let resolve: () => void = () => undefined;
  const came = new Promise<void>((done) => (resolve = done));
  const come = (): void => {
    left -= 1;
    if (left === 0) resolve();
  };
  return [came, come];
}
