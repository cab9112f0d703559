import { describe, expect, it } from 'vitest';
import { listedApi } from '../support/listed.js';
import { people } from '../support/people-rows.js';
import { useRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

describe('the tracked schema of a list', () => {
  const redis = useRedis();

  it('says which fields there are, in which forms, on how many rows, and follows every change', async () => {
    const api = listedApi(people(12, (n) => (n < 3 ? { 등급: null, 팀: [{ id: 't', name: '1팀' }] } : {})));
    const { sweep, store } = sweptList(redis, api);
    await sweep();
    const forms = async () => {
      const { rows, fields } = await store.schema('people');
      return { rows, fields: Object.fromEntries([...fields].map(([field, of]) => [field, Object.fromEntries(of)])) };
    };
    expect(await forms()).toEqual({
      rows: 12,
      fields: {
        id: { string: 12 },
        이름: { string: 12 },
        등급: { string: 9, null: 3 },
        메모: { null: 12 },
        팀: { 'list of {id, name}': 3 },
      },
    });
    api.records = people(13, (n) => (n < 1 ? { 등급: 4 } : {}));
    await sweep();
    await sweep();
    api.records = people(11, (n) => (n < 1 ? { 등급: 4 } : {}));
    await sweep();
    await sweep();
    expect(await forms()).toEqual({
      rows: 11,
      fields: { id: { string: 11 }, 이름: { string: 11 }, 등급: { string: 10, number: 1 }, 메모: { null: 11 } },
    });
  });
});
