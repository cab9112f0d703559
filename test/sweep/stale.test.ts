import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { listedApi } from '../support/listed.js';
import { useRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

const at = (minute: number, rest = '00.000Z') => `2026-03-01T10:${String(minute).padStart(2, '0')}:${rest}`;
const person = (name: string, stamp: string | null, deals = 0): UncheckedRecord => ({
  id: 'p',
  이름: name,
  '딜 개수': deals,
  ...(stamp === null ? {} : { '수정 날짜': stamp }),
});

describe('stale: an answer that may be older than the stored record', () => {
  const redis = useRedis();

  /** Sweeps once for each record, and returns the contents of the events. */
  async function sweepEach(...records: UncheckedRecord[]): Promise<string[]> {
    const api = listedApi([]);
    const { sweep, events } = sweptList(redis, api);
    for (const record of records) {
      api.records = [record];
      await sweep();
    }
    return (await events()).map(({ data }) => `${String(data.after?.['이름'])} ${String(data.after?.['딜 개수'])}`);
  }

  const a = person('A', at(1, '05.100Z'));
  const c = person('C', at(3, '07.300Z'));

  it('is not confirmed by any number of sweeps while a lagging replica explains it', async () => {
    const api = listedApi([a]);
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep();
    api.records = [c];
    await sweep();
    api.records = [a];
    for (let round = 0; round < 4; round += 1) await sweep({ minutesLater: 0 });
    expect(await eventLines()).toHaveLength(1);
    await sweep();
    expect(await eventLines()).toHaveLength(2);
  });

  it('is recognised by its content when modifiedAt does not change', async () => {
    const deals = (count: number) => person('A', at(1), count);
    expect(await sweepEach(deals(1), deals(2), deals(1), deals(2), deals(3), deals(2), deals(1), deals(3))).toEqual([
      'A 2',
      'A 3',
    ]);
    expect(await sweepEach(deals(7), deals(8), deals(7), deals(7))).toHaveLength(2 + 3);
  });

  it('counts as stale, with the reason in the decision log', async () => {
    const api = listedApi([a]);
    const { sweep, store } = sweptList(redis, api);
    await sweep();
    api.records = [c];
    await sweep();
    api.records = [a];
    expect((await sweep()).counts).toMatchObject({ stale: 1, edited: 0 });
    const [state] = await store.records('people', ['p']);
    expect(state?.decisions?.map(({ what, fields }) => [what, fields])).toEqual([
      ['edited', ['이름']],
      ['stale', undefined],
    ]);
  });
});

describe('stale: two sightings in one sweep', () => {
  const redis = useRedis();

  it('count as one: a lagging replica that answers twice confirms nothing', async () => {
    const filler = (id: string): UncheckedRecord => ({ id, 이름: id, '수정 날짜': at(0) });
    const [old, now] = [person('A', at(1, '01.000Z')), person('B', at(2, '01.000Z'))];
    const api = listedApi([old, filler('x'), filler('y'), filler('z')]);
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep();
    api.records = [now, filler('x'), filler('y'), filler('z')];
    await sweep();
    api.records = [old, filler('x'), old, filler('y'), filler('z')];
    await sweep();
    api.records = [now, filler('x'), filler('y'), filler('z')];
    await sweep();
    expect(await eventLines()).toEqual(['updated p 1']);
  });
});
