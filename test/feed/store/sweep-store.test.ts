import { expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import { createSweepStore, type SweepStore } from '../../../src/feed/store/sweep-store.js';
import { noCounts, type Checkpoint } from '../../../src/feed/store/sweep-state.js';
import type { CommittedStep } from '../../../src/feed/store/commit.js';
import { useRedis } from '../../support/redis.js';

const checkpoint: Checkpoint = {
  sweepId: 'todo-1',
  startedAt: '2026-03-01T00:00:00.000Z',
  mode: 'changes',
  cursor: 'c2',
  pages: 1,
  counts: noCounts(),
  firstPage: 'p1',
};
const data = {
  observedAt: '2026-03-01T00:00:00.000Z',
  class: 'edited',
  before: null,
  after: { id: 't1' },
  changes: [],
};
const event = { id: 'evt_1', type: 'crm.todo.created', data } as unknown as ChangeEvent;
const write = { key: 't1', state: { digest: 'd1', sequence: 1, image: '{"id":"t1","내용":"전화\\n하기"}' }, event };

const redis = useRedis();
const open = (): SweepStore => createSweepStore(redis.redis, redis.keys, 'acme');
const page = (token: string): CommittedStep => ({
  ...{ token, checkpoint, summary: null, writes: [write] },
  cursors: ['c2'],
});
const acquire = async (store: SweepStore, ttlMs = 60_000): Promise<string> => {
  const lease = await store.acquire('todo', ttlMs);
  if (lease.outcome === 'held') throw new Error(`held by ${lease.holder}`);
  return lease.token;
};
/** Sends every script twice, as a client does that lost the connection before the answer. */
const twice = () =>
  new Proxy(redis.redis, {
    get: (target, name) =>
      name === 'call'
        ? async (command: string, args: (string | Buffer | number)[]) => {
            await target.call(command, args);
            return await target.call(command, args);
          }
        : (Reflect.get(target, name) as unknown),
  });
const logged = (): Promise<number> => redis.redis.xlen(redis.keys.log('acme'));

it('commit: a page that the client sends twice after a broken connection is stored once', async () => {
  const store = createSweepStore(twice(), redis.keys, 'acme');
  const token = await acquire(open());
  const schema = new Map([['rows', 1]]);
  expect(await store.commit('todo', { ...page(token), schema })).toMatchObject({ outcome: 'committed' });
  expect([await logged(), (await store.schema('todo')).rows]).toEqual([1, 1]);

  // The next page is another step, even with the same contents.
  await open().commit('todo', { ...page(token), schema });
  expect([await logged(), (await store.schema('todo')).rows]).toEqual([2, 2]);
});

it('lease: a Redis that lost the writes of a lease gives no token twice', async () => {
  await open().release('todo', await acquire(open()));
  const tokens: string[] = [];
  const ours = () => redis.redis.keys(`${redis.keys.prefix}*`);
  const kept = await Promise.all((await ours()).map(async (key) => [key, await redis.redis.dumpBuffer(key)] as const));
  for (let failover = 0; failover < 5; failover += 1) {
    tokens.push(await acquire(open()));
    await redis.redis.unlink(...(await ours()), 'none');
    for (const [key, dump] of kept) await redis.redis.restore(key, 0, dump);
  }
  const young = await acquire(open());
  expect(new Set([...tokens, young]).size).toBe(6);
  for (const old of tokens) {
    expect(await open().renew('todo', old, 60_000)).toBe(false);
    expect(await open().commit('todo', page(old))).toEqual({ outcome: 'fenced', holder: young });
  }
});

it('lease: a client that lost the answer asks again and has the lease', async () => {
  const store = createSweepStore(twice(), redis.keys, 'acme');
  const token = await acquire(store);
  expect(await open().renew('todo', token, 60_000)).toBe(true);
  expect(await store.acquire('todo', 60_000)).toMatchObject({ outcome: 'held', holder: token });
});
