import { describe, expect, it } from 'vitest';
import { listedApi } from '../../support/listed.js';
import { customers } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

describe('schema: the tally of a list', () => {
  const redis = useRedis();

  it('counts fields and value types on all rows, and follows every change', async () => {
    const { show, sweep, store } = await baselined(
      redis,
      customers(12, (n) => (n < 3 ? { 등급: null, 팀: [{ id: 't', name: '1팀' }] } : {})),
    );
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
    await show(customers(13, (n) => (n < 1 ? { 등급: 4 } : {})));
    await sweep();
    await show(customers(11, (n) => (n < 1 ? { 등급: 4 } : {})));
    await sweep();
    expect(await forms()).toEqual({
      rows: 11,
      fields: { id: { string: 11 }, 이름: { string: 11 }, 등급: { string: 10, number: 1 }, 메모: { null: 11 } },
    });
  });

  it('is one change when a key that is empty on most rows vanishes, and one when it comes back', async () => {
    const some = (n: number): object => ({ 추천인: n > 9 && n < 13 ? `u${n}` : null });
    const { show, sweep, eventLines } = await baselined(redis, customers(30, some));
    await show(customers(30));
    expect(await eventLines()).toEqual(['schema_changed schema:추천인 1']);

    // One record came back with another value, which is an edit.
    await show(customers(30, (n) => (n === 11 ? { 추천인: 'u9' } : some(n))));
    await sweep();
    expect(await eventLines()).toEqual([
      'schema_changed schema:추천인 1',
      'schema_changed schema:추천인 2',
      'updated p011 1',
    ]);
  });

  it('reports a value that is back after its loss was reported', async () => {
    // The first rows of a sweep, fewer than ten: too few to see a schema change.
    const some = (n: number): object => ({ 추천인: n < 3 ? `u${n}` : null });
    const api = listedApi(customers(30, some));
    const { show, sweep, events } = sweptList(redis, api);
    const heard = async (subject: string) =>
      (await events()).filter((event) => event.subject === subject).map(({ data }) => data.after?.['추천인'] ?? null);
    await sweep();
    await show(customers(30));
    expect(await heard('p001')).toEqual([null]);
    await show(customers(30, some));
    await sweep();
    expect(await heard('p001')).toEqual([null, 'u1']);
  });
});
