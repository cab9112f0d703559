import { expect, it } from 'vitest';
import type { Claim, Entry } from '../../src/dispatch/ports.js';
import { RedisRecordGate } from '../../src/state/gate.js';
import { useRedis } from '../support/redis.js';

/** The place of a dead letter, asked for by whoever had it tried again rather than by its run. */
const test = useRedis();
const SUB = 'ops';
const entry = (n: number): Entry => ({
  workspace: 'acme',
  group: 'a',
  logId: `1700000000000-${n}`,
  eventId: `evt_${n}`,
});
const first: Claim = { ...entry(1), holder: 'w1/1', retried: false };
const retrier = { token: null, life: 1 };

/** The first event of a lane has died; its job is as given. */
async function dead(job: Record<string, string> | null): Promise<RedisRecordGate> {
  const gate = new RedisRecordGate(test.redis, test.keys);
  await gate.enter(SUB, 'acme', [entry(1)]);
  await gate.turn(SUB, first);
  await gate.leave(SUB, first);
  if (job !== null) await test.redis.hset(test.keys.job(SUB, 'evt_1'), job);
  return gate;
}
const lane = (): Promise<string[]> => test.redis.zrange(test.keys.groups(SUB), '0', '-1');

it('is given once, and its run finds it', async () => {
  const gate = await dead({ name: 'x' });
  const given = await gate.reenter(SUB, entry(1), retrier);
  expect(given).toMatchObject({ outcome: 'placed' });
  expect(await gate.reenter(SUB, entry(1), retrier)).toEqual(given);
  await test.redis.set(test.keys.jobLock(SUB, 'evt_1'), 'token');
  expect(await gate.reenter(SUB, entry(1), { token: 'token', life: 1 })).toEqual(given);
  expect(await lane()).toHaveLength(1);
});

it('is not given again when its run has left meanwhile', async () => {
  const gate = await dead({ name: 'x' });
  await test.redis.set(test.keys.jobLock(SUB, 'evt_1'), 'token');
  const given = await gate.reenter(SUB, entry(1), { token: 'token', life: 1 });
  const run: Claim = {
    ...entry(1),
    holder: 'w2/2',
    retried: true,
    position: given.outcome === 'placed' ? given.position : '',
  };
  await gate.turn(SUB, run);
  await gate.leave(SUB, run);
  await gate.reenter(SUB, entry(1), retrier);
  expect(await lane()).toEqual([]);
});

it.each([
  ['has ended', { name: 'x', finishedOn: '1' }],
  ['is gone', null],
])('is not given to an event whose job %s: nobody would make it leave', async (_what, job) => {
  const gate = await dead(job);
  expect(await gate.reenter(SUB, entry(1), retrier)).toEqual({ outcome: 'taken-over' });
  expect(await lane()).toEqual([]);
});
