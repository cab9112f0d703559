import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kit/clock.js';
import type { LoopBoard } from '../../src/kit/loop.js';
import { createDeliveryStores } from '../../src/delivery/stores.js';
import { createOffsetStore } from '../../src/delivery/offsets.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { RetryAfterError } from '../../src/delivery/handlers/errors.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { runFanOut } from '../support/running-fan-out.js';

const test = useRedis();

describe('a reader that begins', () => {
  it('begin: a reader that cannot begin tries again, its lag is not 0, and it gets what was logged meanwhile', async () => {
    const store = createOffsetStore(test.redis, test.keys);
    let isAway = true;
    const begin: typeof store.begin = (...call) =>
      isAway ? Promise.reject(new Error('no answer')) : store.begin(...call);
    const handled: number[] = [];
    const late = aSubscription('late', ({ data }) => void handled.push(data.sequence), { start: 'now' });
    const { append, dispatcher } = await runFanOut(test, [late], { offsets: { ...store, begin } });
    await append(1, 2);
    expect(await dispatcher.statistics()).toMatchObject([{ name: 'late', lagEvents: null, lagSeconds: null }]);
    isAway = false;
    await eventually(() => expect(handled).toEqual([1, 2]));
    expect(await dispatcher.statistics()).toMatchObject([{ lagEvents: 0, lagSeconds: 0 }]);
  });

  it('begin: `now` is when the configuration was read, not later and not earlier', async () => {
    const configReadAtMs = systemClock.monotonic();
    const handled: number[] = [];
    const late = aSubscription('late', ({ data }) => void handled.push(data.sequence), { start: 'now' });
    const { append } = await runFanOut(test, [aSubscription('first', () => undefined)]);
    await append(1);
    await runFanOut(test, [late], { configReadAtMs });
    await append(2);
    await eventually(() => expect(handled).toEqual([1, 2]));

    const never: number[] = [];
    await runFanOut(test, [aSubscription('later', ({ data }) => void never.push(data.sequence), { start: 'now' })], {
      configReadAtMs: systemClock.monotonic() + 60_000,
    });
    await append(3);
    await eventually(() => expect(never).toEqual([3]));
  });

  it('begin: `after` goes on where a paused subscription stopped: no event is lost or repeated', async () => {
    const handled: Record<'former' | 'next', string[]> = { former: [], next: [] };
    const of = (name: 'former' | 'next', changes = {}) =>
      aSubscription(name, ({ id }) => void handled[name].push(id), changes);
    const old = await runFanOut(test, [of('former')], { workspaces: ['acme', 'beta'] });
    const append = async (from: number, to: number): Promise<string[]> => {
      const events = Array.from({ length: to - from }, (_, at) =>
        changeEvent({ record: `r${at % 3}`, sequence: from + at }),
      );
      await appendEvents(test, events);
      return events.map(({ id }) => id);
    };
    const first = await append(0, 20);
    await old.settled();
    await old.dispatcher.pause('former', 'replaced');
    // In its queue: its offset is behind them.
    const queued = await append(20, 40);
    const { offsets, gate } = createDeliveryStores(test);
    await eventually(async () => expect((await gate.pending('former', 'acme')).events).toBe(20));
    await Promise.all([old.pool.stop(), old.dispatcher.close()]);
    const unread = await append(40, 60);

    const after = await runFanOut(test, [of('next', { start: { after: 'former' } })], { workspaces: ['acme', 'beta'] });
    const last = await append(60, 70);
    await after.settled();
    expect(handled.former.toSorted()).toEqual(first.toSorted());
    expect(handled.next.toSorted()).toEqual([...queued, ...unread, ...last].toSorted());
    expect(await offsets.get('beta', 'next')).toBe(await offsets.get('beta', 'former'));
  });

  it('begin: `after` a subscription of which nothing is stored says so, begins nowhere, and stops no other one', async () => {
    const handled: string[] = [];
    const loops: LoopBoard = new Map();
    const lost = aSubscription('lost', () => undefined, { start: { after: 'formr' } });
    const other = aSubscription('other', ({ id }) => void handled.push(id));
    const { append } = await runFanOut(test, [lost, other], { loops });
    await append(1);
    await eventually(() => expect(handled).toHaveLength(1));
    await eventually(() =>
      expect(loops.get('dispatch acme to lost')?.failed?.error).toBe(
        'start.after of defineHandler "lost": nothing is stored of a subscription "formr". "changefeed subscriptions list" shows the names that can be given; "now" begins without one.',
      ),
    );
    expect(await createDeliveryStores(test).offsets.get('acme', 'lost')).toBeNull();
  });

  it('begin: what was handled when a rule was switched off, and failed then, is not sent when it is switched on again', async () => {
    const attempts: number[] = [];
    const handle = ({ data }: ChangeEvent): void => {
      attempts.push(data.sequence);
      if (data.sequence === 1) throw new RetryAfterError('away', { retryAfter: 500 });
    };
    const rule = aSubscription('s', handle);
    const before = await runFanOut(test, [rule]);
    await before.append(1);
    await eventually(async () => expect(await before.queues.of('s').getDelayedCount()).toBe(1));
    await Promise.all([before.pool.stop(), before.dispatcher.close()]);
    await before.append(2);

    const meanwhile = await runFanOut(test, []);
    await meanwhile.dispatcher.beginNow(rule);
    const after = await runFanOut(test, [rule]);
    await after.append(3, 4);

    await eventually(() => expect(attempts).toContain(4));
    expect(attempts).toEqual([1, 3, 4]);
    expect(await after.queues.of('s').getDelayedCount()).toBe(0);
  });

  it('begin: a subscription that becomes ordered reads on when nothing that has no order waits', async () => {
    const handled: number[] = [];
    let isWell = false;
    const handle = ({ data }: ChangeEvent): void => {
      if (!isWell) throw new RetryAfterError('away', { retryAfter: 500 });
      handled.push(data.sequence);
    };
    const first = await runFanOut(test, [aSubscription('s', handle, { order: 'none' })]);
    await first.append(1);
    await eventually(async () => expect(await first.queues.of('s').getDelayedCount()).toBe(1));
    await Promise.all([first.pool.stop(), first.dispatcher.close()]);

    const ordered = aSubscription('s', handle, { order: 'record' });
    const second = await runFanOut(test, [ordered]);
    const lag = async (): Promise<unknown> => (await second.dispatcher.statistics())[0]?.lagEvents;
    await second.append(2, 3);
    isWell = true;
    await eventually(() => expect(handled).toEqual([1, 2, 3]));
    await eventually(async () => expect(await lag()).toBe(0));
    const { offsets } = test.keys;
    expect(Object.keys(await test.redis.hgetall(offsets('s')))).toEqual(['acme']);
  });
});
