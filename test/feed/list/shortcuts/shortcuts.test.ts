import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../../src/crm/record.js';
import { listedApi, type ListedApi } from '../../../support/listed.js';
import { useRedis } from '../../../support/redis.js';
import { shortcutLoop, type ShortcutLoop } from '../../../support/shortcut-loop.js';

const redis = useRedis();

const at = (second: number): string => new Date(Date.UTC(2026, 2, 2, 1, 0, second)).toISOString();
const person = (id: string, more: object = {}): UncheckedRecord => ({
  ...{ id, 이름: id, 등급: 'B', '수정 날짜': at(0) },
  ...more,
});
const people = (count: number): UncheckedRecord[] => Array.from({ length: count }, (_, index) => person(`p${index}`));
const edit = (api: ListedApi, id: string, second = 5): void => {
  api.records = api.records.map((one) => (one['id'] === id ? { ...one, 등급: 'A', '수정 날짜': at(second) } : one));
};
const asked = (api: ListedApi): (string | null)[] => api.asked.splice(0);

describe('shortcuts: the tail of a list', () => {
  it('finds a record added at the end, for one request a poll', async () => {
    const api = listedApi(people(10), 4);
    const { walk, pass, lines } = await shortcutLoop(redis, { people: api }, 'people');
    await walk();
    asked(api);
    await pass(2_000);
    api.records = [...api.records, person('late')];
    await pass(9_000);
    expect(await lines()).toEqual(['created late']);
    expect(asked(api).length).toBeLessThan(8);
  });

  it.each([-7_200_000, 32_400_000])('finds a record added at the end after the clock was set by %i ms', async (ms) => {
    const api = listedApi(people(10), 4);
    const { walk, pass, lines, step } = await shortcutLoop(redis, { people: api }, 'people');
    await walk();
    await pass(2_000);
    step(ms);
    api.records = [...api.records, person('late')];
    await pass(9_000);
    expect(await lines()).toEqual(['created late']);
  });

  it('follows the end over several pages between two walks', async () => {
    const api = listedApi(people(10), 4);
    const { walk, pass, lines } = await shortcutLoop(redis, { people: api }, 'people');
    await walk();
    for (let n = 0; n < 9; n++) {
      api.records = [...api.records, person(`new${n}`)];
      await pass(2_500);
    }
    expect(await lines()).toEqual(Array.from({ length: 9 }, (_, n) => `created new${n}`));
  });

  it('has missed nothing where removals have moved the end of the list by a page', async () => {
    const api = listedApi(people(10), 4);
    const { walk, pass, store, lines } = await shortcutLoop(redis, { people: api }, 'people');
    await walk();
    api.records = [...api.records.slice(3), person('new')];
    await walk();
    await pass(6_000);
    expect(await lines()).toEqual(['created new']);
    expect((await store.learned('people'))?.rates).not.toHaveProperty('wrong last');
  });

  it('keeps what it has learned when another process takes the lease', async () => {
    const api = listedApi(people(10), 4);
    const { walk, pass, restart } = await shortcutLoop(redis, { people: api }, 'people');
    await walk();
    for (let n = 0; n < 12; n++) {
      api.records = [...api.records, person(`new${n}`)];
      await pass(2_500);
    }
    await restart();
    asked(api);
    await pass(4_000);
    expect(asked(api)).not.toContain(null);
  });
});

describe('shortcuts: an aimed fetch', () => {
  /** One page of the middle is fetched; the ends are polled all the time. */
  const isMiddle = (cursor: string | null): boolean => cursor !== null && cursor !== '0' && cursor !== '18';
  const opened = async (): Promise<{ api: ListedApi; loop: ShortcutLoop }> => {
    const api = listedApi(people(20), 2);
    const loop = await shortcutLoop(redis, { people: api }, 'people');
    await loop.walk();
    asked(api);
    return { api, loop };
  };

  it('reads the page of a record that was named, once for all named records on it', async () => {
    const { api, loop } = await opened();
    edit(api, 'p6');
    await loop.queue.add('people', ['p6', 'p7'], loop.now());
    await loop.pass(1_000);
    expect(asked(api).filter(isMiddle)).toEqual(['6']);
    expect(await loop.lines()).toEqual(['updated p6']);
  });

  it('reads a page again that shortcuts have rewritten, with its neighbours, also in a process that has just started', async () => {
    const { api, loop } = await opened();
    const look = async (id: string, second: number): Promise<void> => {
      edit(api, id, second);
      await loop.queue.add('people', [id], loop.now());
      await loop.pass(1_500);
    };
    await look('p4', 5);
    await look('p6', 5);
    await loop.restart();
    asked(api);
    api.records = api.records.map((one) => (one['id'] === 'p6' ? { ...one, 이름: 'again' } : one));
    await look('p6', 9);
    expect(asked(api).filter(isMiddle)).toEqual(['6']);
    expect(await loop.lines()).toEqual(['updated p4', 'updated p6', 'updated p6']);
  });

  it('finds a counter without a time of its own once a kept cursor has shown a change newer than the last walk', async () => {
    const { api, loop } = await opened();
    const count = (id: string, number: number): void => {
      api.records = api.records.map((one) => (one['id'] === id ? { ...one, '메모 수': number } : one));
    };
    const look = async (id: string): Promise<string[]> => {
      await loop.queue.add('people', [id], loop.now());
      await loop.pass(3_000);
      return await loop.lines();
    };
    count('p9', 1);
    expect(await look('p9')).toEqual([]);
    edit(api, 'p6');
    expect(await look('p6')).toEqual(['updated p6']);
    count('p9', 2);
    expect(await look('p9')).toEqual(['updated p6', 'updated p9']);
  });

  it('follows from an event of another list: a new memo names a person', async () => {
    const { api, loop } = await opened();
    const memos = listedApi([{ id: 'm0' }]);
    const memoLoop = await shortcutLoop(redis, { memo: memos }, 'memo');
    await memoLoop.walk();
    edit(api, 'p9');
    memos.records = [...memos.records, { id: 'm1', peopleId: 'p9' }];
    await memoLoop.pass(3_000);
    await loop.pass(3_000);
    expect(await loop.lines()).toEqual(['created m1', 'updated p9']);
  });

  it('follows from a todo that was done, within three seconds', async () => {
    const { api, loop } = await opened();
    const todo = { id: 't1', peopleId: 'p9', 완료: false };
    const todos = listedApi([todo]);
    const todoLoop = await shortcutLoop(redis, { todo: todos }, 'todo');
    await todoLoop.walk();
    edit(api, 'p9');
    todos.records = [{ ...todo, 완료: true }];
    await todoLoop.walk();
    await loop.pass(3_000);
    expect(await loop.lines()).toEqual(['updated t1', 'updated p9']);
  });

  it('does not follow from an edit of a record that is never open, such as a memo', async () => {
    const { api, loop } = await opened();
    const memo = { id: 'm1', peopleId: 'p9', text: 'one' };
    const memos = listedApi([memo]);
    const memoLoop = await shortcutLoop(redis, { memo: memos }, 'memo');
    await memoLoop.walk();
    memos.records = [{ ...memo, text: 'two' }];
    await memoLoop.walk();
    await loop.pass(3_000);
    expect(await loop.lines()).toEqual(['updated m1']);
    expect(asked(api).filter(isMiddle)).toEqual([]);
  });

  it('is withdrawn while pages no longer hold their records, and walks still find every change', async () => {
    const { api, loop } = await opened();
    // Another order at every request of a middle page: the cursors mean something else.
    api.before = (cursor) =>
      isMiddle(cursor)
        ? { list: 'people', records: [person('p0'), person('p1')], nextCursor: null, bytes: 0 }
        : undefined;
    for (let n = 4; n < 16; n++) {
      await loop.queue.add('people', [`p${n}`], loop.now());
      await loop.pass(1_200);
    }
    expect((await loop.store.learned('people'))?.uses.aimed).toMatchObject({ useful: 0 });
    asked(api);
    await loop.queue.add('people', ['p9'], loop.now());
    await loop.pass(2_000);
    expect(asked(api).filter(isMiddle)).toEqual([]);
    api.before = () => undefined;
    edit(api, 'p9');
    await loop.walk();
    expect(await loop.lines()).toEqual(['updated p9']);
  });

  it('looks for a record that is not known at the ends, and a flood of such names costs no page each', async () => {
    const { api, loop } = await opened();
    await loop.pass(30_000);
    asked(api);
    await loop.queue.add(
      'people',
      Array.from({ length: 900 }, (_, n) => `nobody${n}`),
      loop.now(),
    );
    api.records = [...api.records, person('late')];
    await loop.pass(1_200);
    expect(await loop.lines()).toEqual(['created late']);
    await loop.pass(20_000);
    // Both ends, at most once a second each.
    expect(asked(api).length).toBeLessThanOrEqual(46);
    expect(asked(api).filter(isMiddle)).toEqual([]);
  });

  it('gives back what it has not looked up, to the process that gets the lease next', async () => {
    const { api, loop } = await opened();
    await loop.queue.add('people', ['p4', 'p8', 'p12'], loop.now());
    await loop.pass(400);
    const first = asked(api).filter(isMiddle);
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(3);
    await loop.restart();
    await loop.pass(3_000);
    expect([...first, ...asked(api).filter(isMiddle)].sort()).toEqual(['12', '4', '8']);
  });

  it('serves the names queued by another process, the one that has waited longest first', async () => {
    const { api, loop } = await opened();
    await loop.queue.add('people', ['p4'], loop.now() - 2_000);
    await loop.queue.add('people', ['p12'], loop.now() - 1_000);
    await loop.pass(1_500);
    expect(asked(api).filter(isMiddle)).toEqual(['4', '12']);
  });
});

it('shortcuts: a list that answers kept cursors as it is now is known by a walk that finds a change newer than the walk before, until a page shows an older record', async () => {
  const api = listedApi(people(20), 2);
  const loop = await shortcutLoop(redis, { people: api }, 'people');
  const change = (id: string, more: object): void => {
    api.records = api.records.map((one) => (one['id'] === id ? { ...one, ...more } : one));
  };
  const lookUp = async (id: string): Promise<string[]> => {
    await loop.queue.add('people', [id], loop.now());
    await loop.pass(2_500);
    return (await loop.lines()).slice(-1);
  };
  // The times of the records are before now.
  loop.later(7_200_000);
  await loop.walk();
  // Without a time of its own: it may be the page as it was.
  change('p6', { 등급: 'A' });
  expect(await lookUp('p6')).toEqual([]);
  loop.later(10_000);
  change('p12', { 등급: 'A', '수정 날짜': new Date(loop.now()).toISOString() });
  await loop.walk();
  change('p8', { 등급: 'A' });
  expect(await lookUp('p8')).toEqual(['updated p8']);
  // An answer from before the change of p12. However old it is, only a walk may believe it.
  loop.later(1_200_000);
  change('p12', { 등급: 'B', '수정 날짜': at(0) });
  expect(await lookUp('p12')).toEqual(['updated p8']);
  change('p9', { 등급: 'A' });
  expect(await lookUp('p9')).toEqual(['updated p8']);
});
