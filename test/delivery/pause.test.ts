import { describe, expect, it } from 'vitest';
import { DisableSubscriptionError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, firstChangesOf } from '../support/events.js';
import { heardLog } from '../support/heard-log.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut, type RunningFanOut } from '../support/running-fan-out.js';

const test = useRedis();

class Endpoint {
  mended = false;
  readonly tried: string[] = [];
  readonly reached: string[] = [];

  constructor(readonly failure: () => Error) {}

  subscription(name: string, changes: Partial<Subscription> = {}): Subscription {
    const handle: Subscription['handle'] = ({ subject, data }, { attempt }) => {
      this.tried.push(`${subject} ${data.sequence} try ${attempt}`);
      if (!this.mended) throw this.failure();
      this.reached.push(`${subject} ${data.sequence}`);
    };
    return aSubscription(name, handle, changes);
  }
}

const gone = (): Endpoint => new Endpoint(() => new DisableSubscriptionError('the endpoint is gone'));

const statisticsOf = async ({ dispatcher }: RunningFanOut, name: string) => {
  const all = await dispatcher.statistics();
  return all.find((one) => one.name === name);
};

const eventuallyPaused = (running: RunningFanOut, name: string): Promise<void> =>
  eventually(async () => {
    expect(await statisticsOf(running, name)).toMatchObject({
      paused: { at: expect.any(String) as string },
      active: 0,
    });
  });

describe('circuit breaker: DisableSubscriptionError', () => {
  it('stops delivery without loss, and continues in order with that event when enabled', async () => {
    const endpoint = gone();
    const others: number[] = [];
    const other = aSubscription('other', ({ data }) => void others.push(data.sequence));
    const running = await runFanOut(test, [endpoint.subscription('ops'), other]);
    await running.append(1);
    await eventuallyPaused(running, 'ops');
    await running.append(2, 3);
    await eventually(() => expect(others).toEqual([1, 2, 3]));
    expect(endpoint.tried).toEqual(['r1 1 try 1']);
    expect(await running.dead.count()).toBe(0);

    endpoint.mended = true;
    const was = await running.dispatcher.resume('ops');

    expect(was).toEqual({ at: expect.any(String) as string, reason: 'the endpoint is gone', missing: false });
    expect(await running.settled()).toEqual({ outcome: 'handled' });
    expect(endpoint.reached).toEqual(['r1 1', 'r1 2', 'r1 3']);
    // The attempt that paused the subscription did not count.
    expect(endpoint.tried[1]).toBe('r1 1 try 1');
    expect(await statisticsOf(running, 'ops')).toMatchObject({ paused: null, failingSince: null });
  });

  it('is logged once as an error, however many events fail at the same time', async () => {
    const { log: logger, heard } = heardLog();
    const endpoint = gone();
    const running = await runFanOut(test, [endpoint.subscription('ops')], { logger });
    const events = firstChangesOf('a', 'b', 'c', 'd', 'e', 'f');
    await appendEvents(test, events);
    await eventuallyPaused(running, 'ops');
    expect(heard.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        facts: { subscription: 'ops', reason: 'the endpoint is gone' },
        message: expect.stringContaining('SUBSCRIPTION PAUSED') as string,
      },
    ]);
  });

  it('does not block waitUntilHandled', async () => {
    const running = await runFanOut(test, [gone().subscription('ops')]);
    await running.append(1, 2);
    await eventuallyPaused(running, 'ops');
    expect(await running.settled()).toEqual({ outcome: 'handled' });
  });

  it('applies to processes that start later, and the queue takes a bounded part of the log', async () => {
    const endpoint = gone();
    const first = await runFanOut(test, [endpoint.subscription('ops')], { highWater: 2 });
    await first.append(1);
    await eventuallyPaused(first, 'ops');
    const second = await runFanOut(test, [endpoint.subscription('ops')], { highWater: 2 });
    await second.append(...Array.from({ length: 400 }, (_, index) => index + 2));
    await eventually(async () => expect((await statisticsOf(second, 'ops'))?.lagEvents).toBe(401));
    expect(endpoint.tried).toEqual(['r1 1 try 1']);
    const counts = await second.queues.of('ops').getJobCounts('waiting', 'delayed');
    expect((counts['waiting'] ?? 0) + (counts['delayed'] ?? 0)).toBeLessThan(300);

    endpoint.mended = true;
    await second.dispatcher.resume('ops');
    expect(await second.settled(120_000)).toEqual({ outcome: 'handled' });
    expect(endpoint.reached).toHaveLength(401);
  });
});

describe('circuit breaker: disableAfter', () => {
  const down = (): Endpoint => new Endpoint(() => new Error('no answer'));
  const patient = { attempts: 100, delayMs: 20, maxDelayMs: 20 };

  it('disables a subscription without a success, names the failure and makes no dead letter', async () => {
    const endpoint = down();
    const running = await runFanOut(test, [endpoint.subscription('ops', { disableAfterMs: 200, retry: patient })]);
    await running.append(1, 2);
    await eventuallyPaused(running, 'ops');
    expect((await statisticsOf(running, 'ops'))?.paused?.reason).toBe(
      'No attempt has succeeded for 200 ms. Last error: Error with a message of 9 characters (shown with LOG_LEVEL=debug)',
    );
    endpoint.mended = true;
    await running.dispatcher.resume('ops');
    expect(await running.settled()).toEqual({ outcome: 'handled' });
    expect(endpoint.reached).toEqual(['r1 1', 'r1 2']);
    expect(await running.dead.count()).toBe(0);
  });

  it('control: without it, events become dead letters and the status only says failing', async () => {
    const endpoint = down();
    const retry = { attempts: 5, delayMs: 50, maxDelayMs: 50 };
    const running = await runFanOut(test, [endpoint.subscription('ops', { retry })]);
    await running.append(1);
    await eventuallyDead(running.dead, 1);
    expect(await statisticsOf(running, 'ops')).toMatchObject({
      paused: null,
      failingSince: expect.any(String) as string,
    });
    endpoint.mended = true;
    await running.append(2);
    await running.settled();
    await eventually(async () => expect((await statisticsOf(running, 'ops'))?.failingSince).toBeNull());
  });
});

describe('circuit breaker: disable and enable commands', () => {
  it('events wait until it is enabled, and a second call of either command reports that', async () => {
    const endpoint = gone();
    endpoint.mended = true;
    const running = await runFanOut(test, [endpoint.subscription('ops')]);
    expect(await running.dispatcher.pause('ops', 'maintenance')).toBe(true);
    expect(await running.dispatcher.pause('ops', 'again')).toBe(false);
    await running.append(1);
    await eventually(async () => {
      expect(await statisticsOf(running, 'ops')).toMatchObject({ waiting: 1, paused: { reason: 'maintenance' } });
    });
    expect(await running.dispatcher.resume('ops')).toMatchObject({ reason: 'maintenance' });
    expect(await running.dispatcher.resume('ops')).toBeNull();
    expect(await running.settled()).toEqual({ outcome: 'handled' });
    await expect(running.dispatcher.resume('x')).rejects.toMatchObject({ code: 'CF_USAGE' });
  });

  it('a queue that was not paused because the process was killed is paused by enforcePaused', async () => {
    const running = await runFanOut(test, [gone().subscription('ops')]);
    await running.dispatcher.pause('ops', 'maintenance');
    await running.queues.of('ops').resume();

    expect(await running.dispatcher.enforcePaused()).toEqual(['ops']);

    expect(await running.queues.of('ops').isPaused()).toBe(true);
  });

  it('a queue that stayed paused, because `resume` was killed or a person deleted the mark, is resumed by enforcePaused', async () => {
    const endpoint = gone();
    endpoint.mended = true;
    const { log: logger, heard } = heardLog();
    const running = await runFanOut(test, [endpoint.subscription('ops')], { logger });
    await running.dispatcher.pause('ops', 'maintenance');
    await running.append(1);
    // The remedy that is printed where the mark cannot be read, and the first step of `enable`.
    await test.redis.del(test.keys.health('ops'));

    expect(await running.dispatcher.enforcePaused()).toEqual([]);

    expect(await running.settled()).toEqual({ outcome: 'handled' });
    expect(endpoint.reached).toEqual(['r1 1']);
    expect(heard).toMatchObject([{ level: 'warn', message: expect.stringContaining('resumed') as string }]);
  });
});
