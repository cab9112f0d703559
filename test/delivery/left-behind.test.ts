/** A subscription that was renamed: its waiting events and dead letters are shown, and move to the new name. */
import { expect, it } from 'vitest';
import { renameSubscription } from '../../src/ops/forget.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Handle } from '../../src/delivery/handlers/handler.js';
import { systemClock } from '../../src/kit/clock.js';
import { silentLog } from '../../src/kit/log.js';
import { trimLog } from '../../src/delivery/retention.js';
import { createTraceStore } from '../../src/ops/traces.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, changeEvent, changesOf } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const DAY_MS = 86_400_000;
const KEPT = { receipts: { ageMs: DAY_MS, number: 1_000 } };

it('left behind: events of a subscription that was renamed are reported, and `rename` gives them to the new name', async () => {
  const { redis, keys } = test;
  const fails: Handle = async (event, { signal }) => {
    if (event.subject === 'r1') throw new PermanentError('closed');
    await systemClock.sleep(DAY_MS, signal);
  };
  const old = await runFanOut(test, [aSubscription('billing', fails, KEPT)], { stopGraceMs: 50 });
  const [bad, ...waiting] = [changeEvent({ record: 'r1', sequence: 1 }), ...changesOf('r2', 1, 2)];
  await appendEvents({ redis, keys }, [bad, ...waiting]);
  await eventuallyDead(old.dead, 1);
  await eventually(async () =>
    expect((await old.dispatcher.statistics())[0]).toMatchObject({ active: 1, lagEvents: 2 }),
  );
  await old.pool.stop();
  await old.dispatcher.stop();

  // The service is started with the new name.
  const handled: string[] = [];
  const keep: Handle = (event) => void handled.push(event.id);
  const nowMs = systemClock.now();
  const clock = { ...systemClock, now: () => systemClock.now() + DAY_MS };
  const renamed = await runFanOut(test, [aSubscription('invoices', keep)], { clock });
  const trim = {
    workspace: 'acme',
    readers: ['invoices'],
    retention: { ageMs: 7 * DAY_MS, events: 1_000 },
    paused: [],
  };
  expect(await renamed.dispatcher.leftBehind()).toEqual([]);
  await trimLog(redis, keys, { ...trim, nowMs });
  expect(await renamed.dispatcher.leftBehind()).toEqual([{ subscription: 'billing', waiting: 1, dead: 1 }]);

  const connect = () => test.connect({ maxRetriesPerRequest: null });
  const deps = { keys, connect, logger: silentLog, traces: createTraceStore(redis, keys) };
  const call = { from: 'billing', to: 'invoices', configured: ['invoices'] };
  await expect(renameSubscription(call, deps)).rejects.toThrow('1 process handles "invoices" now');
  await renamed.pool.stop();
  await renamed.dispatcher.stop();
  await renameSubscription(call, deps);
  handled.length = 0;

  const after = await runFanOut(test, [aSubscription('invoices', keep, KEPT)]);
  await eventually(() => expect(handled).toEqual(waiting.map(({ id }) => id)));
  expect(await after.dispatcher.leftBehind()).toEqual([]);
  expect(await after.dead.retry({ subscription: 'invoices' })).toBe(1);
  await eventually(() => expect(handled).toContain(bad.id));
  const receipts = await after.dispatcher.deliveries({ event: bad.id });
  expect(receipts.map(({ outcome }) => outcome)).toEqual(['delivered', 'dead']);
  const keysLeft = await redis.keys(`${keys.subscriptionQueuePrefix('billing')}*`);
  expect(keysLeft).toEqual([]);
});
