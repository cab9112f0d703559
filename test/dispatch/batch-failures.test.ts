import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { BatchError, PermanentError, RetryAfterError } from '../../src/handlers/errors.js';
import { batching, nameOf, of } from '../support/batching.js';
import { eventually } from '../support/eventually.js';
import { changeEvent, seeded } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead } from '../support/running-fan-out.js';
import { put, start } from '../support/debouncing.js';

const test = useRedis();

describe('batch failures', () => {
  it('only the failed events and those behind them in their records are retried, each as its own error says', async () => {
    const batches: string[][] = [];
    const ids = new Map(
      [...of('a', 1), ...of('b', 1, 2, 3), ...of('c', 1, 2)].map((event) => [nameOf(event), event.id]),
    );
    const running = await start(
      test,
      batching((events) => {
        batches.push(events.map(nameOf));
        if (batches.length > 1) return;
        throw new BatchError('two failed', [
          [ids.get('b2')!, new RetryAfterError('busy', { retryAfter: 1 })],
          [ids.get('c1')!, new PermanentError('never')],
        ]);
      }),
    );

    await put(running, [...of('a', 1), ...of('b', 1, 2, 3), ...of('c', 1, 2)]);

    const [letter] = await eventuallyDead(running.dead, 1);
    await running.settled();
    const [first, ...later] = batches;
    expect(first!.toSorted()).toEqual(['a1', 'b1', 'b2', 'b3', 'c1', 'c2']);
    expect(later.flat().toSorted()).toEqual(['b2', 'b3', 'c2']);
    expect(letter).toMatchObject({ reason: 'never', event: { subject: 'c', data: { sequence: 1 } } });
    const b = later.flat().filter((name) => name.startsWith('b'));
    expect(b).toEqual(['b2', 'b3']);
  });

  it('the attempts of an event that fails behind another count from when it is the first of its record', async () => {
    const attempts: number[] = [];
    const running = await start(
      test,
      batching(
        (events, { about }) => {
          const second = events.find(({ data }) => data.sequence === 2);
          if (second === undefined) return;
          attempts.push(about(second).attempt);
          throw new BatchError('one failed', [[second.id, new Error(`try ${attempts.length}`)]]);
        },
        {},
        { retry: { attempts: 3, delayMs: 1, maxDelayMs: 1 } },
      ),
    );

    await put(running, of('a', 1, 2, 3));

    const [letter] = await eventuallyDead(running.dead, 1);
    await running.settled();
    expect(attempts).toEqual([1, 1, 2, 3]);
    expect(letter?.attempts.map(({ attempt, message }) => `${attempt} ${message}`)).toEqual([
      '1 try 2',
      '2 try 3',
      '3 try 4',
    ]);
  });

  it.each<[string, (events: readonly ChangeEvent[]) => Error]>([
    ['any other error is thrown', () => new Error('all of it')],
    ['it names an event that is not in the batch', () => new BatchError('x', [['evt_of_another', new Error('y')]])],
    ['it names none', () => new BatchError('x', [])],
  ])('the whole batch fails when %s', async (_when, errorOf) => {
    const tries = new Map<string, number>();
    const running = await start(
      test,
      batching((events) => {
        for (const event of events) tries.set(nameOf(event), (tries.get(nameOf(event)) ?? 0) + 1);
        if (tries.get('a1') === 1) throw errorOf(events);
      }),
    );

    await put(running, [...of('a', 1, 2), ...of('b', 1)]);

    await running.settled();
    expect(tries.get('a1')).toBeGreaterThan(1);
    expect(tries.get('b1')).toBeGreaterThan(1);
    expect(await running.dead.count()).toBe(0);
  });

  it('every record keeps its order when events fail at random', async () => {
    const random = seeded(4);
    const done = new Map<string, number[]>();
    const violations: string[] = [];
    const running = await start(
      test,
      batching(
        (events) => {
          const failures: [string, Error][] = [];
          const broken = new Set<string>();
          for (const event of events) {
            const { subject, data } = event;
            const so = done.get(subject) ?? [];
            // The events behind a failed one in its batch are handled again with it.
            if (broken.has(subject)) continue;
            if (data.sequence !== so.length + 1) violations.push(`${nameOf(event)} after ${so.length}`);
            if (random() < 0.2) {
              failures.push([event.id, new Error('by chance')]);
              broken.add(subject);
            } else done.set(subject, [...so, data.sequence]);
          }
          if (failures.length > 0) throw new BatchError('by chance', failures);
        },
        { size: 16, lingerMs: 1 },
        { retry: { attempts: 1_000, delayMs: 1, maxDelayMs: 4 } },
      ),
    );
    const events = Array.from({ length: 240 }, (_, n) =>
      changeEvent({ record: `r${n % 6}`, sequence: Math.floor(n / 6) + 1 }),
    );

    await put(running, events);

    await eventually(() => expect([...done.values()].flat()).toHaveLength(240));
    expect(violations).toEqual([]);
    expect(await running.dead.count()).toBe(0);
  });
});
