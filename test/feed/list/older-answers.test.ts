import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

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
    const { show, events } = sweptList(redis, api);
    for (const record of records) {
      await show([record]);
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
    const { api, show, sweep, eventLines } = await baselined(redis, [a]);
    await show([c]);
    api.records = [a];
    for (let round = 0; round < 9; round += 1)
      expect((await sweep()).counts).toMatchObject({ unchanged: 1, edited: 0 });
    expect(await eventLines()).toEqual(['updated p 1']);
    expect((await sweep()).counts).toMatchObject({ edited: 1 });
    expect(await eventLines()).toEqual(['updated p 1', 'updated p 2']);
  });

  it('leave their page to be compared again', async () => {
    const api = listedApi([a, { ...b, id: 'q' }]);
    const { show, sweep, store } = sweptList(redis, api);
    const stored = async () => (await store.pages('people', 1, 1))[0]?.digest;
    await sweep();
    await show([c, { ...b, id: 'q' }]);
    expect(await stored()).not.toBe('');
    await show([a, { ...b, id: 'q' }]);
    expect(await stored()).toBe('');
  });
});
