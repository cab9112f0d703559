import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { createRecordGate, type NewEntry } from '../../../src/delivery/groups/gate.js';
import { createHealthStore } from '../../../src/delivery/health.js';
import { createOnceStore } from '../../../src/delivery/run/once.js';
import { WORKSPACE, changeEvent } from '../../support/events.js';
import { useRedis } from '../../support/redis.js';
import { startRedisProxy } from '../../support/redis-proxy.js';

const test = useRedis();

async function losingReplies() {
  const proxy = await startRedisProxy(test.url);
  const redis = new Redis(proxy.url, { maxRetriesPerRequest: null, retryStrategy: () => 1 });
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  await redis.ping();
  return {
    redis,
    lose: async <T>(call: () => Promise<T>): Promise<T> => {
      proxy.loseNext();
      const before = proxy.lost;
      const result = await call();
      expect(proxy.lost).toBe(before + 1);
      return result;
    },
  };
}

it('lost reply: a merge that is sent twice merges once', async () => {
  const { redis, lose } = await losingReplies();
  const gate = createRecordGate(redis, test.keys);
  const entries = [1, 2, 3, 4, 5, 6].map((n): NewEntry => {
    const logId = `1700000000000-${n}`;
    const delivery = { id: `evt_${n}`, group: 'acme/a', kind: 'logged', type: 'crm.person.updated' } as const;
    return { ...delivery, logId, serial: logId, atMs: n };
  });
  await gate.enter('s', { workspace: WORKSPACE, source: WORKSPACE, readAt: null, entries });
  const [head] = entries as [NewEntry];
  await redis.set(test.keys.jobLock('s', head.id), 'w1');
  const claim = { workspace: WORKSPACE, group: 'acme/a', id: head.id, token: 'w1' };
  await gate.standing('s', claim);

  const stored = { event: changeEvent({ record: 'a', sequence: 3 }) };
  const merge = { count: 2, head: { ...head, kind: 'decided' as const }, stored };
  expect(await lose(() => gate.merge('s', claim, merge))).toEqual({ outcome: 'head' });

  const left = ['evt_1', 'evt_4', 'evt_5', 'evt_6'].map((id) => ({ id }));
  expect(await gate.standing('s', claim, 9)).toMatchObject({ outcome: 'head', entries: left });
  expect(await gate.pending('s', WORKSPACE)).toMatchObject({ events: 4 });
});

it('lost reply: the mark of a side effect that is sent twice is begun, and by another attempt it is not', async () => {
  const { redis, lose } = await losingReplies();
  const once = createOnceStore(redis, test.keys);
  const mark = { subscription: 's', workspace: WORKSPACE, eventId: 'evt_1', key: 'mail' };

  expect(await lose(() => once.begin(mark))).toBe('begun');
  expect(await once.begin(mark)).toBe('started');
});

it('lost reply: a subscription is paused by the call that did it', async () => {
  const { redis, lose } = await losingReplies();
  const health = createHealthStore(redis, test.keys);
  await health.pause('other', { atMs: 1, reason: 'loads the script' });
  const failure = {
    nowMs: 1,
    disableAfterMs: 60_000,
    reason: 'failing',
    error: { workspace: 'acme', message: 'e' },
  };
  await health.failed('other', failure);

  expect(await lose(() => health.pause('s', { atMs: 1, reason: 'gone' }))).toBe('pausing');
  expect(await health.pause('s', { atMs: 2, reason: 'gone' })).toBe('paused');
  await health.failed('t', failure);
  expect(await lose(() => health.failed('t', { ...failure, nowMs: 70_000 }))).toBe('pausing');
  expect(await health.failed('t', { ...failure, nowMs: 70_001 })).toBe('paused');
  expect(await lose(() => health.missed('s'))).toBe(true);
  expect(await health.missed('s')).toBe(false);
});
