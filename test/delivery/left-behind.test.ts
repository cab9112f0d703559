/** A subscription that the configuration no longer has: its waiting events and dead letters are shown. */
import { expect, it } from 'vitest';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Handle } from '../../src/delivery/handlers/handler.js';
import { systemClock } from '../../src/kit/clock.js';
import { trimLog } from '../../src/delivery/run/retention.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, changeEvent, changesOf } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const DAY_MS = 86_400_000;
const KEPT = { receipts: { ageMs: DAY_MS, number: 1_000 } };

it('left behind: events of a subscription that the configuration no longer has are reported', async () => {
  const { redis, keys } = test;
  const fails: Handle = async (event, { signal }) => {
    if (event.subject === 'r1') throw new PermanentError('closed');
    await systemClock.sleep(DAY_MS, signal);
  };
  const old = await runFanOut(test, [aSubscription('billing', fails, KEPT)], { stopGraceMs: 500 });
  const [bad, ...waiting] = [changeEvent({ record: 'r1', sequence: 1 }), ...changesOf('r2', 1, 2)];
  await appendEvents({ redis, keys }, [bad, ...waiting]);
  await eventuallyDead(old.dead, 1);
  await eventually(async () =>
    expect((await old.dispatcher.statistics())[0]).toMatchObject({ active: 1, lagEvents: 2 }),
  );
  await old.pool.stop();
  await old.dispatcher.stop();

  const nowMs = systemClock.now();
  const clock = { ...systemClock, now: () => systemClock.now() + DAY_MS };
  const others = await runFanOut(test, [aSubscription('invoices', () => undefined)], { clock });
  const trim = {
    workspace: 'acme',
    readers: ['invoices'],
    retention: { ageMs: 7 * DAY_MS, events: 1_000 },
    paused: [],
  };
  expect(await others.dispatcher.leftBehind()).toEqual([]);
  await trimLog(redis, keys, { ...trim, nowMs });
  expect(await others.dispatcher.leftBehind()).toEqual([
    { subscription: 'billing', waiting: 1, dead: 1, unread: false },
  ]);
  await appendEvents({ redis, keys }, [changeEvent({ record: 'r3', sequence: 1 })]);
  expect(await others.dispatcher.leftBehind()).toMatchObject([{ unread: true }]);
});
