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
  const b = person('B', at(2, '06.200Z'));
  const c = person('C', at(3, '07.300Z'));

  it('is no event when its modifiedAt is older, whatever it shows', async () => {
    expect(await sweepEach(a, c, a, c, b, c)).toEqual(['C 0']);
  });

  it('is an event when the next sweep shows it again', async () => {
    expect(await sweepEach(a, c, a, a, a)).toEqual(['C 0', 'A 0']);
  });

  it('is an event when three sweeps in a row show older answers that differ', async () => {
    expect(await sweepEach(a, c, a, b, person('A2', at(1, '06.000Z')))).toEqual(['C 0', 'A2 0']);
  });

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

  it('is not confirmed by a second sighting when the stored content was seen in between', async () => {
    expect(await sweepEach(a, c, a, c, a, c, a, c)).toEqual(['C 0']);
  });

  it('is recognised by its content when modifiedAt does not change', async () => {
    const deals = (count: number) => person('A', at(1), count);
    expect(await sweepEach(deals(1), deals(2), deals(1), deals(2), deals(3), deals(2), deals(1), deals(3))).toEqual([
      'A 2',
      'A 3',
    ]);
    expect(await sweepEach(deals(7), deals(8), deals(7), deals(7))).toHaveLength(2 + 3);
  });

  it('is accepted at once with a newer modifiedAt, for example when a person restores a value', async () => {
    expect(await sweepEach(a, b, { ...a, '수정 날짜': at(9, '01.000Z') })).toEqual(['B 0', 'A 0']);
  });

  it('is not assumed for an edit within the same minute of a cut time', async () => {
    expect(await sweepEach(person('A', at(1)), person('B', at(1)), person('C', at(1)))).toEqual(['B 0', 'C 0']);
  });

  it('is not assumed when a cut time may stand for a later moment of its minute', async () => {
    expect(await sweepEach(person('A', at(1, '40.000Z')), person('B', at(1)))).toEqual(['B 0']);
    expect(await sweepEach(person('X', at(2, '40.000Z')), person('Y', at(1)))).not.toContain('Y 0');
  });

  it('is not assumed for a record without modifiedAt', async () => {
    expect(await sweepEach(person('A', null), person('B', null), person('C', null))).toEqual(['B 0', 'C 0']);
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
