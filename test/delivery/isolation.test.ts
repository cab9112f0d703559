import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { WORKSPACE, appendEvents, firstChangesOf } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { runFanOut } from '../support/running-fan-out.js';

const test = useRedis();

describe('isolation of subscriptions', () => {
  it('a paused and a failing subscription delay no other, and stop only their own reading', async () => {
    const seen: number[] = [];
    const paused = aSubscription('paused', () => undefined);
    const failing = aSubscription('failing', () => Promise.reject(new Error('always')), {
      retry: { attempts: 99, delayMs: 60_000, maxDelayMs: 60_000 },
    });
    const healthy = aSubscription('healthy', ({ data }) => void seen.push(data.sequence));
    const { append, dispatcher, queues } = await runFanOut(test, [paused, failing, healthy], { highWater: 5 });
    await queues.of('paused').pause();
    const sequences = Array.from({ length: 40 }, (_, n) => n + 1);

    for (const sequence of sequences) await append(sequence);

    await eventually(() => expect(seen).toEqual(sequences));
    const statistics = await eventually(async () => {
      const all = await dispatcher.statistics();
      expect(all.find(({ name }) => name === 'healthy')).toMatchObject({ waiting: 0, active: 0, lagEvents: 0 });
      return all;
    });
    expect(statistics.find(({ name }) => name === 'failing')).toMatchObject({ dead: 0, lagEvents: 40 });
    expect(statistics.find(({ name }) => name === 'paused')).toMatchObject({ paused: { at: null }, lagEvents: 40 });
    expect(statistics.find(({ name }) => name === 'failing')!.delayed).toBeLessThan(40);
  });

  it('an id with half a surrogate pair stops no other event', async () => {
    const seen: string[] = [];
    const { settled } = await runFanOut(test, [aSubscription('s', ({ subject }) => void seen.push(subject))]);

    await appendEvents(test, firstChangesOf('r1', '\ud83d', 'r2'));

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen.toSorted()).toEqual(['r1', 'r2', '\ud83d']);
  });

  it('without an order, events of one record do not wait for each other', async () => {
    const seen: number[] = [];
    const { append } = await runFanOut(
      test,
      [
        aSubscription(
          's',
          async ({ data }) => {
            if (data.sequence === 1) await new Promise(() => undefined);
            seen.push(data.sequence);
          },
          { order: 'none' },
        ),
      ],
      { stopGraceMs: 10 },
    );

    await append(1, 2, 3);

    await eventually(() => expect(seen.toSorted()).toEqual([2, 3]));
  });
});

describe('waitUntilHandled', () => {
  it('names the subscriptions that are not done', async () => {
    const { append, dispatcher } = await runFanOut(test, [
      aSubscription('quick', () => undefined),
      aSubscription('stuck', ({ data }) => (data.sequence === 2 ? Promise.reject(new Error('x')) : undefined), {
        retry: { attempts: 9, delayMs: 60_000, maxDelayMs: 60_000 },
      }),
    ]);
    await append(1);
    expect(await dispatcher.waitUntilHandled({ timeoutMs: 10_000 })).toEqual({ outcome: 'handled' });
    await append(2);
    expect(await dispatcher.waitUntilHandled({ timeoutMs: 1_500 })).toEqual({
      outcome: 'timeout',
      unhandled: [{ subscription: 'stuck', workspace: WORKSPACE, stage: 'handling' }],
    });
  });

  it('ends when its signal aborts', async () => {
    const { dispatcher } = await runFanOut(test, [aSubscription('s', () => undefined)]);
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(dispatcher.waitUntilHandled({ timeoutMs: 60_000, signal: aborted })).rejects.toThrow('enough');
  });
});
