/** Events that wait for too long, with a real queue, on a clock that is put forward. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SubscriptionStatus } from '../../src/delivery/ask/subscription-status.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { systemClock } from '../../src/kit/clock.js';
import { eventually } from '../support/eventually.js';
import { skippingClock } from '../support/fast-clock.js';
import { aSubscription } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { runFanOut, type RunningFanOut } from '../support/running-fan-out.js';

const test = useRedis();

const LATE_MS = 300_000;

describe('late', () => {
  async function running(changes: Partial<Subscription> = {}, handle: Subscription['handle'] = () => undefined) {
    const clock = skippingClock(systemClock);
    const fanOut = await runFanOut(test, [aSubscription('ops', handle, changes)], { clock, lostJobsMs: 3_600_000 });
    return { ...fanOut, clock };
  }
  const ops = async ({ dispatcher }: Pick<RunningFanOut, 'dispatcher'>): Promise<SubscriptionStatus> =>
    (await dispatcher.statistics())[0]!;
  const shows = (fanOut: RunningFanOut, expected: Partial<SubscriptionStatus>): Promise<void> =>
    eventually(async () => expect(await ops(fanOut)).toMatchObject(expected));
  const isLate = async (fanOut: RunningFanOut & Awaited<ReturnType<typeof running>>): Promise<void> => {
    expect((await ops(fanOut)).lateSince).toBeNull();
    fanOut.clock.skip(LATE_MS);
    expect((await ops(fanOut)).lateSince).not.toBeNull();
  };

  it('late: an event in a queue that stands still, until it is handled', async () => {
    const fanOut = await running();
    await fanOut.queues.of('ops').pause();
    await fanOut.append(1);
    await shows(fanOut, { waiting: 1 });
    await isLate(fanOut);
    await fanOut.queues.of('ops').resume();
    await shows(fanOut, { lagEvents: 0, lateSince: null });
  });

  it('late: an event that waits for its retry, and one that is handled all the time', async () => {
    const retry = { attempts: 3, delayMs: 3_600_000, maxDelayMs: 3_600_000 };
    const fails = await running({ retry }, () => {
      throw new Error('not now');
    });
    await fails.append(1);
    await shows(fails, { delayed: 1 });
    await isLate(fails);
  });

  it('late: an event that is handled for too long', async () => {
    const fanOut = await running({ timeoutMs: 3_600_000 }, (_, { signal }) =>
      systemClock.sleep(3_600_000, signal).catch(() => undefined),
    );
    await fanOut.append(1);
    await shows(fanOut, { active: 1 });
    await isLate(fanOut);
  });

  it('late: an event that no dispatcher reads', async () => {
    const fanOut = await running();
    await fanOut.append(1);
    await fanOut.settled();
    await fanOut.dispatcher.stop();
    await fanOut.append(2);
    await isLate(fanOut);
  });

  it('late: an event waits for its record to be quiet for as long as `settle` says, and then `lateAfter`', async () => {
    const fanOut = await running({ settle: { stillMs: 3_600_000, atMostMs: 3_600_000 }, lateAfterMs: 60_000 });
    await fanOut.queues.of('ops').pause();
    await fanOut.append(1);
    await shows(fanOut, { waiting: 1 });
    fanOut.clock.skip(3_610_000);
    expect((await ops(fanOut)).lateSince).toBeNull();
    fanOut.clock.skip(60_000);
    expect((await ops(fanOut)).lateSince).not.toBeNull();
  });

  it('late: an old event that is sent again waits from then on', async () => {
    const fanOut = await running();
    await fanOut.append(1);
    await fanOut.settled();
    await fanOut.queues.of('ops').pause();
    fanOut.clock.skip(2 * LATE_MS);
    await fanOut.dispatcher.replay({ subscription: 'ops', from: 'beginning' });
    await shows(fanOut, { waiting: 1 });
    const { lagSeconds } = await ops(fanOut);
    expect(lagSeconds).toBeLessThan(LATE_MS / 1_000);
    await isLate(fanOut);
  });

  it('lag: all unread events are counted, also where the log is read in several batches', async () => {
    const fanOut = await runFanOut(test, [aSubscription('ops', () => undefined)]);
    await fanOut.dispatcher.stop();
    await fanOut.append(...Array.from({ length: 170 }, (_, index) => index + 1));
    expect(await ops(fanOut)).toMatchObject({ lagEvents: 170 });
  });

  it('failing: a subscription fails although its last success was noted by a clock that was ahead', async () => {
    let fails = false;
    const fanOut = await running({}, () => {
      if (fails) throw new Error('not now');
    });
    fanOut.clock.step(1_200_000);
    const wall = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + 1_200_000);
    onTestFinished(() => wall.mockRestore());
    await fanOut.append(1);
    await fanOut.settled();
    fanOut.clock.step(-1_200_000);
    wall.mockRestore();
    fails = true;
    await fanOut.append(2);
    await eventually(async () => {
      const { failingSince, failures } = await ops(fanOut);
      expect({ failingSince, isFailing: failures > 0 }).toEqual({
        failingSince: expect.any(String) as string,
        isFailing: true,
      });
    });
    fails = false;
    await shows(fanOut, { failingSince: null, failures: 0, lagEvents: 0 });
  });

  it('dead: a subscription names its last error for as long as a dead letter waits', async () => {
    const fanOut = await running({}, () => {
      throw new PermanentError('the database is down');
    });
    await fanOut.append(1);
    const lastError = {
      workspace: 'acme',
      message: 'PermanentError with a message of 20 characters (shown with LOG_LEVEL=debug)',
    };
    await shows(fanOut, { dead: 1, failures: 1, lastError });
    fanOut.clock.skip(7 * 86_400_000);
    expect(await ops(fanOut)).toMatchObject({ dead: 1, lastError });
  });
});
