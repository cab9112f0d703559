/** A page that is committed in several parts, and a process that dies between two of them. */
import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import type { SweepStore } from '../../src/sweep/store.js';
import { listedApi, type ListedApi } from '../support/listed.js';
import { useRedis } from '../support/redis.js';
import { sweptList, type SweptListOptions } from '../support/swept-list.js';

const PARTS: SweptListOptions = { recordsPerPart: 2 };

describe('page parts', () => {
  const redis = useRedis();

  /** A list that is one page, whatever its length. */
  function onePage(records: UncheckedRecord[]): ListedApi {
    const api = listedApi(records);
    api.before = () => ({ list: 'people', records: [...api.records], nextCursor: null, bytes: 0 });
    return api;
  }
  const people = (...names: string[]): UncheckedRecord[] => names.map((id) => ({ id, 이름: `person ${id}` }));
  /** Commits that many times; the next commit fails before it is sent. */
  function diesAfter(commits: number): SweepStore {
    const store = createSweepStore(redis.redis, redis.keys, 'acme');
    let left = commits;
    return {
      ...store,
      async commit(list, commit) {
        if (left === 0) throw new Error('died');
        left -= 1;
        return await store.commit(list, commit);
      },
    };
  }

  it.each([0, 1, 2])('page parts: a crash after %i parts neither loses nor repeats an event', async (committed) => {
    const api = onePage(people('a'));
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep(PARTS);
    api.records = people('a', 'b', 'c', 'd', 'e');
    await expect(sweep({ ...PARTS, store: diesAfter(committed) })).rejects.toThrow('died');
    const { counts } = await sweep(PARTS);
    expect(await eventLines()).toEqual(['created b 1', 'created c 1', 'created d 1', 'created e 1']);
    expect(counts).toMatchObject({ seen: 5, created: 4 - 2 * committed + (committed > 0 ? 1 : 0), missing: 0 });
    expect((await sweep(PARTS)).counts).toMatchObject({ seen: 5, unchanged: 5 });
  });

  it('page parts: a change between the crash and the second read is its own event', async () => {
    const api = onePage(people('a'));
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep(PARTS);
    api.records = people('a', 'b', 'c', 'd');
    await expect(sweep({ ...PARTS, store: diesAfter(1) })).rejects.toThrow('died');
    api.records[1] = { id: 'b', 이름: 'another name' };
    await sweep(PARTS);
    expect(await eventLines()).toEqual(['created b 1', 'updated b 2', 'created c 1', 'created d 1']);
  });

  it.each(['resumed', 'given up'])(
    'page parts: a record that only a committed part has shown is reported as deleted; the sweep is %s',
    async (how) => {
      const api = onePage(people('a'));
      const { sweep, eventLines } = sweptList(redis, api);
      await sweep(PARTS);
      api.records = people('a', 'b', 'c', 'd');
      await expect(sweep({ ...PARTS, store: diesAfter(1) })).rejects.toThrow('died');
      api.records = people('a', 'c', 'd');
      await sweep({ ...PARTS, minutesLater: how === 'resumed' ? 1 : 120 });
      await sweep(PARTS);
      await sweep(PARTS);
      await sweep(PARTS);
      expect(await eventLines()).toEqual(['created b 1', 'created c 1', 'created d 1', 'deleted b 2']);
    },
  );

  it('page parts: one older record in the last part makes the answer doubtful in the first part too', async () => {
    const stamped = (n: number, minute: number, name: string): UncheckedRecord => ({
      id: `p-${n}`,
      이름: name,
      '수정 날짜': `2026-03-01T09:0${minute}:01.000Z`,
    });
    const api = onePage([1, 2, 3].map((n) => stamped(n, 5, 'now')));
    const { sweep, eventLines } = sweptList(redis, api);
    await sweep(PARTS);
    // The first shows no older stamp; that the replica lags is seen from the third.
    api.records = [stamped(1, 5, 'then'), stamped(2, 5, 'now'), stamped(3, 1, 'then')];
    expect((await sweep(PARTS)).counts).toMatchObject({ stale: 2, edited: 0 });
    api.records = [1, 2, 3].map((n) => stamped(n, 5, 'now'));
    await sweep(PARTS);
    expect(await eventLines()).toEqual([]);
  });
});
