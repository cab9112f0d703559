import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import type { SweepStore } from '../../../src/feed/store/sweep-store.js';
import { listedApi, type ListedApi } from '../../support/listed.js';
import { person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { baselined, sweptList } from '../../support/swept-list.js';

function paged(api: ListedApi, pages: readonly (readonly UncheckedRecord[])[]): void {
  api.before = (cursor) => {
    const at = Number(cursor ?? 0);
    return {
      list: 'people',
      records: pages[at] ?? [],
      nextCursor: at + 1 < pages.length ? String(at + 1) : null,
      bytes: 0,
    };
  };
}

describe('unchanged page:', () => {
  const redis = useRedis();

  it('is not compared, and the sweep writes nothing but its end', async () => {
    const { sweep, store } = await baselined(
      redis,
      ['a', 'b', 'c', 'd', 'e'].map((id) => person(id)),
    );
    const calls: string[] = [];
    const watched: SweepStore = {
      ...store,
      digests: (list, keys) => (calls.push('digests'), store.digests(list, keys)),
      commit: (list, commit) => (calls.push('commit'), store.commit(list, commit)),
    };
    expect(await sweep({ store: watched })).toMatchObject({ pages: 3, counts: { seen: 5, unchanged: 5 } });
    expect(calls).toEqual(['commit']);
  });

  it.each([
    ['is compared again after another page has shown one of its records differently', true],
    ['hides a change if it is not forgotten then (control)', false],
  ])('%s', async (_what, forgets) => {
    const api = listedApi();
    const { sweep, store, eventLines } = sweptList(redis, api);
    const sabotaged: SweepStore = {
      ...store,
      promotePages: (list, pages) => store.promotePages(list, { ...pages, forget: [] }),
    };
    const options = forgets ? {} : { store: sabotaged };
    const first = [person('a'), person('r', 'before')];
    paged(api, [first, [person('b'), person('c')]]);
    await sweep(options);
    paged(api, [first, [person('b'), person('r', 'after')]]);
    await sweep(options);
    paged(api, [first, [person('b')]]);
    await sweep(options);
    const updates = (await eventLines()).filter((line) => line.includes(' r '));
    expect(updates).toEqual(forgets ? ['updated r 1', 'updated r 2'] : ['updated r 1']);
  });

  it('is compared again after an abandoned sweep has stored another state of it', async () => {
    const api = listedApi();
    const { sweep, eventLines } = sweptList(redis, api);
    const before = [[person('a'), person('b')], [person('c')]];
    paged(api, before);
    await sweep();
    // The second page leads back to the first: the sweep cannot be completed and is abandoned.
    paged(api, [
      [person('a', 'changed'), person('b')],
      [person('a', 'changed'), person('b')],
    ]);
    await expect(sweep()).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    paged(api, before);
    await sweep();
    expect(await eventLines()).toEqual(['updated a 1', 'updated a 2']);
  });

  it('after an abandoned sweep: a record that had left it is still reported as deleted', async () => {
    const api = listedApi();
    const { sweep, eventLines } = sweptList(redis, api);
    paged(api, [[person('a'), person('b')], [person('c')]]);
    await sweep();
    const now = [person('a'), person('d')];
    paged(api, [now, now]);
    await expect(sweep()).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    paged(api, [now, [person('c')]]);
    await sweep();
    await sweep();
    expect(await eventLines()).toEqual(['created d 1', 'deleted b 1']);
  });

  it('a sweep that fails after skipped pages resumes at the page that failed', async () => {
    const { api, sweep } = await baselined(
      redis,
      ['a', 'b', 'c', 'd', 'e'].map((id) => person(id)),
    );
    api.before = (_cursor, page) => {
      if (page === 3) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'The API is away.' });
      return undefined;
    };
    await expect(sweep()).rejects.toMatchObject({ facts: { page: 3, resumes: true } });
    api.before = () => undefined;
    api.asked.length = 0;
    expect(await sweep()).toMatchObject({ counts: { seen: 5, unchanged: 5 } });
    expect(api.asked).toEqual(['4']);
  });

  it('a damaged page is refused with the name of its key', async () => {
    const { sweep } = await baselined(redis, [person('a')]);
    const key = redis.keys.pages('acme', 'people');
    await redis.redis.hset(key, '1', '{');
    await expect(sweep()).rejects.toThrow(`Redis key "${key}", "1"`);
    await redis.redis.hdel(key, '1');
    expect(await sweep()).toMatchObject({ counts: { seen: 1, unchanged: 1 } });
  });
});
