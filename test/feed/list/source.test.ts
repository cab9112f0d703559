import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { dumpOf } from '../../support/dump.js';
import { listedApi, type ListedApi } from '../../support/listed.js';
import { people, person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

const redis = useRedis();

const OLD = { source: 'https://old.example/api' };
const NEW = { source: 'https://new.example/api' };
const REFUSED = { code: 'CF_SOURCE_CHANGED' };

const failing = (api: ListedApi, page: number): void => {
  api.before = (_cursor, number) => {
    if (number === page) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'down' });
    return undefined;
  };
};

describe('source: another address that shows other records', () => {
  it('is refused with the reason, and nothing is written', async () => {
    const { api, sweep } = await baselined(redis, people(12), { pageSize: 5, ...OLD });
    const kept = () => dumpOf(redis.redis, redis.keys.prefix);
    const before = await kept();
    api.records = people(12, 'other');
    for (let tries = 0; tries < 3; tries += 1)
      await expect(sweep(NEW)).rejects.toMatchObject({
        ...REFUSED,
        message:
          'Workspace "acme", list "people": the source is now https://new.example/api and shows other records than ' +
          'https://old.example/api, from which the baseline was taken. Nothing was written: correct baseUrl, take the ' +
          'new source with "changefeed resync <list>" (a quiet baseline), or start over with "changefeed forget acme" or another workspace name.',
      });
    expect(await kept()).toEqual(before);
  });

  it('that is changed back continues an interrupted sweep', async () => {
    const { api, show, sweep, eventLines } = await baselined(redis, people(12), { pageSize: 5, ...OLD });
    const changed = [person('p0', 'edited'), ...people(12).slice(1)];
    api.records = changed;
    failing(api, 2);
    await expect(sweep(OLD)).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    api.before = () => undefined;
    await expect(show(people(12, 'other'), NEW)).rejects.toMatchObject(REFUSED);
    api.records = changed;
    api.asked.length = 0;
    expect((await sweep(OLD)).counts).toMatchObject({ seen: 12, missing: 0 });
    expect(api.asked).toEqual(['5', '10']);
    expect(await eventLines()).toEqual(['updated p0 1']);
  });

  it.each<[string, UncheckedRecord[], UncheckedRecord[]]>([
    ['shows nothing where there were records', people(12), []],
    ['shows records where there were none', [], people(12)],
    ['shows the same ids with other contents', people(12), people(12).map(({ id }) => person(String(id), 'other'))],
  ])('is refused too when it %s', async (_what, old, fresh) => {
    const { show, eventLines } = await baselined(redis, old, { pageSize: 5, ...OLD });
    await expect(show(fresh, NEW)).rejects.toMatchObject(REFUSED);
    expect(await eventLines()).toEqual([]);
  });

  it('floods when the list is not bound to its address (control)', async () => {
    const api = listedApi(people(12), 5);
    const { show, sweep, eventLines } = sweptList(redis, api);
    const creations = { maxShare: 1, maxCount: 100 };
    await sweep({ creations });
    await show(people(12, 'other'), { creations });
    expect(await eventLines()).toHaveLength(12);
  });

  it('is an incomplete sweep when its first page cannot be read', async () => {
    const { api, sweep } = await baselined(redis, people(12), { pageSize: 5, ...OLD });
    failing(api, 1);
    await expect(sweep(NEW)).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE', facts: { page: 1 } });
  });
});

describe('source: another address with the same contents', () => {
  it('is accepted, and changes in the meantime are reported', async () => {
    const { show, eventLines } = await baselined(redis, people(12), { pageSize: 5, ...OLD });
    expect(await show([...people(12).slice(0, 11), person('p11', 'edited'), person('new')], NEW)).toMatchObject({
      mode: 'changes',
      source: NEW.source,
    });
    expect(await eventLines()).toEqual(['updated p11 1', 'created new 1']);
    await expect(show(people(12, 'other'), OLD)).rejects.toMatchObject(REFUSED);
  });

  it('is recognised when texts differ but mean the same', async () => {
    const picture = (host: string, id: string) =>
      person(id, id, { 프로필: `${host}/${id}.png?signature=${host}${id}` });
    const ids = people(8).map(({ id }) => String(id));
    const { show, eventLines } = await baselined(
      redis,
      ids.map((id) => picture('https://files.example/a', id)),
      { pageSize: 5, ...OLD },
    );
    await show(
      ids.map((id) => ({ ...picture('https://files.example/a', id), 등급: null })),
      NEW,
    );
    expect(await eventLines()).toEqual([]);
  });

  it('is recognised behind a few pages of new records', async () => {
    const { show, eventLines } = await baselined(redis, people(20), { pageSize: 5, ...OLD });
    await show([...people(12, 'new'), ...people(20)], NEW);
    expect(await eventLines()).toHaveLength(12);
  });

  it('is accepted with an empty list', async () => {
    const { sweep } = await baselined(redis, [], { pageSize: 5, ...OLD });
    expect(await sweep(NEW)).toMatchObject({ mode: 'changes', source: NEW.source });
  });

  it('continues a sweep that was interrupted there, and not one of the old address', async () => {
    const { api, sweep, eventLines } = await baselined(redis, people(12), { pageSize: 5, ...OLD });
    failing(api, 2);
    await expect(sweep(OLD)).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    failing(api, 3);
    api.asked.length = 0;
    await expect(sweep(NEW)).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    expect(api.asked).toEqual([null, null, '5', '10']);
    api.before = () => undefined;
    api.asked.length = 0;
    await sweep(NEW);
    expect(api.asked).toEqual(['10']);
    expect(await eventLines()).toEqual([]);
  });
});

it('source: two addresses that share a workspace are bound to the one whose baseline is complete first; the other leaves nothing behind', async () => {
  const api = listedApi(people(12), 5);
  const { show, sweep, eventLines, store } = sweptList(redis, api);
  failing(api, 3);
  await expect(sweep(OLD)).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
  api.before = () => undefined;
  expect(await show(people(12, 'other'), NEW)).toMatchObject({ mode: 'baseline', counts: { seen: 12 } });
  for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep(NEW);
  expect(await eventLines()).toEqual([]);
  expect((await store.schema('people')).rows).toBe(12);
  await expect(show(people(12), OLD)).rejects.toMatchObject(REFUSED);
});
