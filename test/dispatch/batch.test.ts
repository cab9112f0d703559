import { describe, expect, it } from 'vitest';
import { NEVER_ALONE, batching, nameOf, of } from '../support/batching.js';
import { eventually } from '../support/eventually.js';
import { changeEvent } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { put, queue, start, stateOf } from '../support/debouncing.js';

const test = useRedis();

describe('batch', () => {
  it('the handler gets many events at once, those of one record in order', async () => {
    const seen: string[][] = [];
    const running = await start(
      test,
      batching((events) => void seen.push(events.map(nameOf)), { lingerMs: NEVER_ALONE }),
    );

    await put(running, [...of('a', 1, 2, 3), ...of('b', 1), ...of('a', 4), ...of('c', 1, 2)]);
    await eventually(async () => expect((await running.dispatcher.statistics())[0]).toMatchObject({ active: 3 }));
    // No state of waiting events is left.
    await running.pool.stop();

    expect(await running.settled()).toEqual({ outcome: 'handled' });
    // The heads may have joined one after another; each brought its followers.
    expect(seen.length).toBeLessThanOrEqual(3);
    expect(seen.flat().toSorted()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']);
    expect(seen.flat().filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4']);
    expect(await stateOf(test)).toEqual([test.keys.entered('s', 'acme')]);
    await eventually(async () =>
      expect((await running.dispatcher.statistics())[0]).toMatchObject({ active: 0, delayed: 0, waiting: 0 }),
    );
  });

  it('a batch never exceeds its size, and is handled after `linger` if it does not fill', async () => {
    const sizes: number[] = [];
    const running = await start(
      test,
      batching((events) => void sizes.push(events.length), { size: 4, lingerMs: 1 }),
    );

    await put(running, [...of('a', 1, 2, 3, 4, 5, 6), ...of('b', 1), ...of('c', 1), ...of('d', 1)]);

    await running.settled();
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(9);
  });

  it('the handler runs as many batches at a time as its concurrency allows', async () => {
    let running = 0;
    let most = 0;
    let batches = 0;
    const fanOut = await start(
      test,
      batching(
        async (events) => {
          running += 1;
          most = Math.max(most, running);
          batches += 1;
          for (const _event of events) await test.redis.ping();
          running -= 1;
        },
        { size: 2, lingerMs: 1 },
        { concurrency: 2 },
      ),
    );

    await put(
      fanOut,
      Array.from({ length: 40 }, (_, n) => changeEvent({ record: `r${n}`, sequence: 1 })),
    );

    await fanOut.settled();
    expect(batches).toBeGreaterThanOrEqual(20);
    expect(most).toBeLessThanOrEqual(2);
  });

  it('`about` returns for each event what the context of a single event contains', async () => {
    const contexts: unknown[] = [];
    const effects: string[] = [];
    const running = await start(
      test,
      batching(async (events, { about, subscription }) => {
        for (const event of events) {
          const { attempt, workspace, replay, once } = about(event);
          contexts.push([subscription, workspace, replay, attempt, await once('x', () => effects.push(nameOf(event)))]);
        }
        if (contexts.length === 1) throw new Error('once more');
      }),
    );

    await put(running, of('a', 1));

    await eventually(() => expect(contexts).toHaveLength(2));
    expect(contexts).toEqual([
      ['s', 'acme', false, 1, 'ran'],
      ['s', 'acme', false, 2, 'before'],
    ]);
    expect(effects).toEqual(['a1']);
  });

  it('`where` and `transform` are applied to each event of a batch', async () => {
    const seen: string[] = [];
    let throws = true;
    const running = await start(
      test,
      batching(
        (events) => void seen.push(...events.map(nameOf)),
        {},
        {
          transform: (event) => {
            if (event.subject === 'b' && throws) {
              throws = false;
              throw new Error('not this one');
            }
            return { ...event, subject: event.subject.toUpperCase() };
          },
        },
      ),
    );

    await put(running, [...of('a', 1), ...of('b', 1, 2)]);

    await running.settled();
    expect(seen.toSorted()).toEqual(['A1', 'B1', 'B2']);
    expect(seen.indexOf('B1')).toBeLessThan(seen.indexOf('B2'));
  });
});

describe('batch when stopping', () => {
  it('a batch does not wait to fill when the process stops', async () => {
    const seen: string[] = [];
    const running = await start(
      test,
      batching((events) => void seen.push(...events.map(nameOf)), { lingerMs: NEVER_ALONE }),
    );
    await queue(running, [...of('a', 1, 2), ...of('b', 1)]);
    await running.queues.of('s').resume();
    await eventually(async () => expect((await running.dispatcher.statistics())[0]).toMatchObject({ active: 2 }));

    await running.pool.stop();

    expect(seen.toSorted()).toEqual(['a1', 'a2', 'b1']);
  });

  it('a batch that runs longer than the stop grace is interrupted, and no attempt is counted', async () => {
    const attempts: number[] = [];
    const running = await start(
      test,
      batching((events, { about, signal }) => {
        attempts.push(...events.map((event) => about(event).attempt));
        if (attempts.length > 2) return;
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      }),
      { stopGraceMs: 10 },
    );
    await put(running, [...of('a', 1), ...of('b', 1)]);
    await eventually(() => expect(attempts).toHaveLength(2));
    await running.pool.stop().catch(() => undefined);

    const counts = await running.queues.of('s').getJobCounts('waiting', 'failed', 'delayed');
    expect(counts).toMatchObject({ waiting: 2, failed: 0, delayed: 0 });
  });

  it('a batch that exceeds its timeout counts as a failed attempt of every event', async () => {
    const attempts: number[] = [];
    const running = await start(
      test,
      batching(
        (events, { about }) => {
          attempts.push(...events.map((event) => about(event).attempt));
          return attempts.length > 2 ? undefined : new Promise(() => undefined);
        },
        {},
        { timeoutMs: 30 },
      ),
    );
    await put(running, [...of('a', 1), ...of('b', 1)]);

    await running.settled();
    expect(attempts.toSorted()).toEqual([1, 1, 2, 2]);
  });
});
