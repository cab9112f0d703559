import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { silentLog, type Log } from '../../../src/kit/log.js';
import { listedApi } from '../../support/listed.js';
import { rowsOfGate } from '../../support/night.js';
import { people, person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

const redis = useRedis();

describe('creations: an import of 3,000 into a list of 5,000', { timeout: 240_000 }, () => {
  const old = people(5_000);
  const fresh = people(3_000, 'new');

  const IMPORTS: [string, UncheckedRecord[]][] = [
    ['in the middle', [...old.slice(0, 2_500), ...fresh, ...old.slice(2_500)]],
    ['at the front', [...fresh, ...old]],
    ['at the end', [...old, ...fresh]],
  ];
  it.each(rowsOfGate(1, IMPORTS))('%s is reported in full, in order, once', async (_where, records) => {
    const api = listedApi(old, 100);
    const { show, sweep, eventLines } = sweptList(redis, api);
    const warned: unknown[] = [];
    const log: Log = { ...silentLog, warn: (...said: unknown[]) => void warned.push(said.at(-1)) };
    await sweep();
    const { counts, held } = await show(records, { log });
    expect(counts).toMatchObject({ seen: 8_000, created: 3_000, held: 0, missing: 0 });
    expect(held).toBeUndefined();
    expect(warned).toEqual([]);
    expect(await eventLines()).toEqual(fresh.map(({ id }) => `created ${String(id)} 1`));
    expect((await sweep()).counts).toMatchObject({ unchanged: 8_000 });
  });
});

const rows = (from: number, count: number): UncheckedRecord[] =>
  Array.from({ length: count }, (_, index) => ({ type: 'memoCreate', text: `row ${from + index}` }));

it('creations: rows known by their content that were added in great number between two sweeps are reported', async () => {
  const { show, eventLines } = await baselined(redis, rows(0, 200), { pageSize: 50, list: 'activity' });
  expect((await show([...rows(1_000, 900), ...rows(0, 200)])).counts).toMatchObject({ created: 900, held: 0 });
  expect(await eventLines()).toHaveLength(900);
});

describe('creations: a walk that is interrupted', () => {
  it('in a survey is surveyed again, and holds in the end', async () => {
    const { api, sweep, eventLines } = await baselined(redis, people(50), { pageSize: 7 });
    api.records = [...people(60, 'other'), person('p0', 'edited')];
    api.before = (_cursor, page) => {
      if (page === 4) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'down' });
      return undefined;
    };
    await expect(sweep()).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    api.before = () => undefined;
    api.asked.length = 0;
    const { held, counts } = await sweep();
    expect(api.asked[0]).toBeNull();
    expect(held?.at(-1)).toMatchObject({ count: 60, of: 61, known: { seen: 1, of: 50 } });
    expect(counts).toMatchObject({ held: 60, edited: 1 });
    expect(await eventLines()).toEqual(['updated p0 1']);
  });

  it('by an abort in the second walk reports every record once', async () => {
    const { api, sweep, eventLines } = await baselined(redis, people(60), { pageSize: 7 });
    api.records = [...people(30, 'new'), ...people(60)];
    const stop = new AbortController();
    let first = 0;
    api.before = (cursor, page) => {
      if (cursor === null) first += 1;
      if (first === 3 && page === 3) stop.abort(new Error('enough'));
      stop.signal.throwIfAborted();
      return undefined;
    };
    await expect(sweep({ signal: stop.signal })).rejects.toThrow('enough');
    expect(first).toBe(3);
    expect(await eventLines()).toHaveLength(14);
    api.before = () => undefined;
    await sweep();
    expect((await eventLines()).sort()).toEqual(
      people(30, 'new')
        .map(({ id }) => `created ${String(id)} 1`)
        .sort(),
    );
  });
});

it.each(['quiet', 'emit', { since: '2020-01-01T00:00:00.000Z' }] as const)(
  'creations: a first contact is not guarded (%o)',
  async (baseline) => {
    const api = listedApi(people(150), 50);
    const { sweep } = sweptList(redis, api);
    expect((await sweep({ baseline })).counts).toMatchObject({ baselined: 150, held: 0 });
  },
);
