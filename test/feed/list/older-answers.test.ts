import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const at = (minute: number, rest = '00.000Z') => `2026-03-01T10:${String(minute).padStart(2, '0')}:${rest}`;
const person = (name: string, stamp: string | null, deals = 0): UncheckedRecord => ({
  id: 'p',
  이름: name,
  '딜 개수': deals,
  ...(stamp === null ? {} : { '수정 날짜': stamp }),
});

describe('older answers', () => {
  const redis = useRedis();

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

  it('are no event when their modifiedAt is older, whatever they show and however often', async () => {
    expect(await sweepEach(a, c, a, c, b, b, a, c)).toEqual(['C 0']);
  });

  it('are believed ten minutes after the decision', async () => {
    const api = listedApi([a]);
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep();
    api.records = [c];
    await sweep();
    api.records = [a];
    for (let round = 0; round < 9; round += 1)
      expect((await sweep()).counts).toMatchObject({ unchanged: 1, edited: 0 });
    expect(await eventLines()).toEqual(['updated p 1']);
    expect((await sweep()).counts).toMatchObject({ edited: 1 });
    expect(await eventLines()).toEqual(['updated p 1', 'updated p 2']);
  });

  it('leave their page to be compared again', async () => {
    const api = listedApi([a, { ...b, id: 'q' }]);
    const { sweep, store } = sweptList(redis, api);
    const stored = async () => (await store.pages('people', 1, 1))[0]?.digest;
    await sweep();
    api.records = [c, { ...b, id: 'q' }];
    await sweep();
    expect(await stored()).not.toBe('');
    api.records = [a, { ...b, id: 'q' }];
    await sweep();
    expect(await stored()).toBe('');
  });

  it('are not assumed with a newer modifiedAt, for example when a person restores a value', async () => {
    expect(await sweepEach(a, b, { ...a, '수정 날짜': at(9, '01.000Z') })).toEqual(['B 0', 'A 0']);
  });

  it('are not assumed for an edit within the same minute of a cut time', async () => {
    expect(await sweepEach(person('A', at(1)), person('B', at(1)), person('C', at(1)))).toEqual(['B 0', 'C 0']);
  });

  it('are not assumed when a cut time may stand for a later moment of its minute', async () => {
    expect(await sweepEach(person('A', at(1, '40.000Z')), person('B', at(1)))).toEqual(['B 0']);
  });

  it('are not assumed where modifiedAt does not change or is missing', async () => {
    const deals = (count: number) => person('A', at(1), count);
    const untimed = { id: 'p', 이름: 'A', '딜 개수': 3 };
    expect(await sweepEach(deals(1), deals(2), deals(1), untimed, deals(1))).toEqual(['A 2', 'A 1', 'A 3', 'A 1']);
  });
});
