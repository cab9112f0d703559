import { expect, it } from 'vitest';
import { listedApi } from '../../support/listed.js';
import { person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

const test = useRedis();
const evictRecords = () => test.redis.del(test.keys.records('acme', 'people'));

it('state lost: after the records were evicted, nothing is reported as new; a quiet baseline follows, then changes again', async () => {
  const { api, show, sweep, eventLines } = await baselined(
    test,
    ids.map((id) => person(id)),
    { baseline: 'emit' },
  );
  const before = await eventLines();
  await evictRecords();
  await expect(
    show(
      ids.map((id) => person(id, 'while nobody knew')),
      { baseline: 'emit' },
    ),
  ).rejects.toMatchObject({ code: 'CF_STATE_LOST' });
  expect(await sweep({ baseline: 'emit' })).toMatchObject({ mode: 'baseline', counts: { seen: 6, created: 0 } });
  expect(await eventLines()).toEqual(before);
  expect(await show([person('a', 'changed'), ...api.records.slice(1)])).toMatchObject({ mode: 'changes' });
  expect((await eventLines()).slice(before.length)).toEqual(['updated a 1']);
});

it('state lost: records that are evicted in the middle of a sweep, the first one included', async () => {
  const api = listedApi(ids.map((id) => person(id)));
  const { sweep, eventLines } = sweptList(test, api);
  for (let round = 0; round < 2; round++) {
    api.before = async (_cursor, page) => {
      if (page === 2) await evictRecords();
      return undefined;
    };
    await expect(sweep()).rejects.toMatchObject({ code: 'CF_STATE_LOST' });
    api.before = () => undefined;
    expect(await sweep()).toMatchObject({ mode: 'baseline', counts: { seen: 6, baselined: 6 } });
  }
  await sweep();
  expect(await eventLines()).toEqual([]);
});

it('state lost: what else may be evicted invents no event', async () => {
  const { sweep: sweepKey, members, pages, due } = test.keys;
  for (const key of [members('acme', 'people'), pages('acme', 'people'), due('acme'), sweepKey('acme', 'people')]) {
    const { sweep, eventLines } = await baselined(
      test,
      ids.map((id) => person(id)),
    );
    const before = await eventLines();
    await test.redis.del(key);
    for (let round = 0; round < 3; round++) await sweep();
    expect(await eventLines()).toEqual(before);
  }
});

it('state lost: an empty list is no loss', async () => {
  const { show, eventLines } = await baselined(test, []);
  await show([person('a')]);
  expect(await eventLines()).toEqual(['created a 1']);
});
