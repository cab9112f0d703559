/** Events that wait although nothing keeps them back, with a real queue, on a clock that is put forward. */
import { describe, expect, it } from 'vitest';
import { STALLED_MS } from '../../src/dispatch/statistics.js';
import type { SubscriptionStatus } from '../../src/dispatch/subscription-status.js';
import { PermanentError } from '../../src/handlers/errors.js';
import type { Subscription } from '../../src/handlers/handler.js';
import { systemClock } from '../../src/runtime/clock.js';
import { createLogReader, type EventLog } from '../../src/state/event-log.js';
import { eventually } from '../support/eventually.js';
import { skippingClock } from '../support/fast-clock.js';
import { aSubscription, appendEvents, changeEvent } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { runFanOut, type RunningFanOut } from '../support/running-fan-out.js';

const test = useRedis();

describe('stalled', () => {
  async function running(changes: Partial<Subscription> = {}, handle: Subscription['handle'] = () => undefined) {
    const clock = skippingClock(systemClock);
    // Lost jobs must not be repaired while the test looks at them.
    const fanOut = await runFanOut(test, [aSubscription('ops', handle, changes)], { clock, lostJobsMs: 3_600_000 });
    return { ...fanOut, clock };
  }
  const ops = async ({ dispatcher }: Pick<RunningFanOut, 'dispatcher'>): Promise<SubscriptionStatus> =>
    (await dispatcher.statistics())[0]!;
  const lag = (fanOut: RunningFanOut, events: number): Promise<void> =>
    eventually(async () => expect(await ops(fanOut)).toMatchObject({ lagEvents: events }));

  it('stalled: an event in a queue that is paused without a reason, after the limit and not before it', async () => {
    const fanOut = await running();
    await fanOut.queues.of('ops').pause();
    await fanOut.append(1);
    await eventually(async () => expect(await ops(fanOut)).toMatchObject({ waiting: 1 }));
    expect((await ops(fanOut)).stalledSince).toBeNull();
    fanOut.clock.skip(STALLED_MS);
    expect((await ops(fanOut)).stalledSince).not.toBeNull();
    await fanOut.queues.of('ops').resume();
    await eventually(async () => expect(await ops(fanOut)).toMatchObject({ lagEvents: 0, stalledSince: null }));
  });

  it('stalled: an event that has no job, although an event of another record waits for its retry', async () => {
    const fanOut = await running({ retry: { attempts: 3, delayMs: 3_600_000, maxDelayMs: 3_600_000 } }, () => {
      throw new Error('not now');
    });
    const first = { record: 'r1', sequence: 1 };
    await appendEvents(test.redis, test.keys, [changeEvent(first), changeEvent({ ...first, record: 'r2' })]);
    const jobs = await eventually(async () => {
      const delayed = await fanOut.queues.of('ops').getDelayed();
      expect(delayed).toHaveLength(2);
      return delayed;
    });
    await jobs.find(({ data }) => data.group?.endsWith('r1'))!.remove();
    fanOut.clock.skip(STALLED_MS);
    expect((await ops(fanOut)).stalledSince).not.toBeNull();
  });

  it('stalled: an event that no dispatcher reads', async () => {
    const fanOut = await running();
    await fanOut.append(1);
    await fanOut.settled();
    await fanOut.dispatcher.stop();
    await fanOut.append(2);
    fanOut.clock.skip(STALLED_MS);
    expect((await ops(fanOut)).stalledSince).not.toBeNull();
  });

  it('stalled: no event of a subscription that a person has disabled', async () => {
    const fanOut = await running();
    await fanOut.dispatcher.disable('ops', 'moved');
    await fanOut.append(1);
    await lag(fanOut, 1);
    fanOut.clock.skip(STALLED_MS);
    expect((await ops(fanOut)).stalledSince).toBeNull();
  });

  it('stalled: no event that waits for its retry, that is handled, or that is behind such an event', async () => {
    const retry = { attempts: 3, delayMs: 3_600_000, maxDelayMs: 3_600_000 };
    const fanOut = await running({ retry, timeoutMs: 3_600_000 }, async ({ data }, { signal }) => {
      if (data.sequence === 1) throw new Error('not now');
      await systemClock.sleep(3_600_000, signal).catch(() => undefined);
    });
    await fanOut.append(1, 2);
    await eventually(async () => expect(await ops(fanOut)).toMatchObject({ delayed: 1, lagEvents: 2 }));
    fanOut.clock.skip(STALLED_MS);
    expect((await ops(fanOut)).stalledSince).toBeNull();
  });

  it('stalled: no event that is held behind a dead letter on purpose', async () => {
    const fanOut = await running({ whenDead: 'hold' }, () => {
      throw new PermanentError('never');
    });
    await fanOut.append(1, 2);
    await eventually(async () => expect(await ops(fanOut)).toMatchObject({ dead: 1, lagEvents: 1 }));
    fanOut.clock.skip(STALLED_MS);
    expect((await ops(fanOut)).stalledSince).toBeNull();
  });

  it('stalled: no event of a long queue that goes on', async () => {
    const fanOut = await running({ concurrency: 1, order: 'none' }, () => systemClock.sleep(50));
    await fanOut.append(...Array.from({ length: 40 }, (_, index) => index + 1));
    await eventually(async () => expect((await ops(fanOut)).waiting).toBeGreaterThan(20));
    const { queues } = fanOut;
    // The job of the oldest event is behind the others, as after a retry.
    const pending = test.keys.pending('ops', 'acme');
    const [last] = (await queues.of('ops').getWaiting()).map(({ id }) => id!).slice(-1);
    await test.redis.zadd(pending, '1', last!);
    expect((await ops(fanOut)).stalledSince).toBeNull();
  });

  it('lag: all unread events are counted, also where the log returns few at a time', async () => {
    const connect = () => test.connect({ maxRetriesPerRequest: null });
    const reader = createLogReader({ redis: test.redis, keys: test.keys, connect });
    const log: EventLog = {
      ...reader,
      read: (workspace, after, count) => reader.read(workspace, after, Math.min(count, 3)),
    };
    const fanOut = await runFanOut(test, [aSubscription('ops', () => undefined)], { log });
    await fanOut.dispatcher.stop();
    await fanOut.append(...Array.from({ length: 10 }, (_, index) => index + 1));
    expect(await ops(fanOut)).toMatchObject({ lagEvents: 10 });
  });

  it('failing: a subscription names its last error, and many dead letters within ten minutes', async () => {
    const fanOut = await running({}, () => {
      throw new PermanentError('the database is down');
    });
    await fanOut.append(1);
    await eventually(async () => expect(await ops(fanOut)).toMatchObject({ dead: 1, failures: 1, manyDead: false }));
    await fanOut.append(...Array.from({ length: 9 }, (_, index) => index + 2));
    await eventually(async () => {
      const expected = {
        dead: 10,
        failures: 10,
        manyDead: true,
        lastError: {
          workspace: 'acme',
          message: 'PermanentError with a message of 20 characters (shown with LOG_LEVEL=debug)',
        },
      };
      expect(await ops(fanOut)).toMatchObject(expected);
    });
    fanOut.clock.skip(600_000);
    expect(await ops(fanOut)).toMatchObject({ dead: 10, manyDead: false });
  });
});
