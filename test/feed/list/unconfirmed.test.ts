import { expect, it } from 'vitest';
import { UNCONFIRMED } from '../../../src/feed/detect/removal.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import type { SweepStore } from '../../../src/feed/store/sweep-store.js';
import { people, person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined } from '../../support/swept-list.js';

const giveUp = async (store: SweepStore): Promise<void> => {
  const lease = await store.acquire('people', 60_000);
  const token = lease.outcome === 'acquired' ? lease.token : '';
  await store.abandon('people', token);
  await store.release('people', token);
};

const redis = useRedis();

it.each([
  ['was given up', giveUp],
  ['was cut off by a resync', (store: SweepStore) => store.forgetBaseline('people')],
])(
  'removal: a record that only an abandoned sweep has seen is missed by the next ones, and deleted, when that sweep %s',
  async (_what, end) => {
    const { api, sweep, eventLines, store } = await baselined(redis, people(5));
    api.records = [person('brief'), ...people(5)];
    api.before = (_cursor, page) => {
      if (page === 2) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'down' });
      return undefined;
    };
    await expect(sweep()).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    expect(await eventLines()).toEqual(['created brief 1']);

    await end(store);
    api.records = people(5);
    api.before = () => undefined;
    for (let round = 0; round < 3; round += 1) await sweep();
    expect(await eventLines()).toEqual(['created brief 1', 'deleted brief 2']);
    expect(await store.membersOf('people', [UNCONFIRMED])).toEqual([null]);
  },
);
