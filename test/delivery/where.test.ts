import { describe, expect, it } from 'vitest';
import { aSubscription } from '../support/fan-out.js';
import { changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const retry = { attempts: 2, delayMs: 1, maxDelayMs: 2 };

describe('where and transform', () => {
  it('`where` filters events, and `transform` changes the rest under the same id', async () => {
    const seen: unknown[] = [];
    const { append, settled } = await runFanOut(test, [
      aSubscription('s', ({ id, subject }) => void seen.push([id, subject]), {
        where: ({ data }) => data.sequence % 2 === 0,
        transform: (event) => Promise.resolve({ ...event, id: 'another', subject: `${event.subject}!` }),
      }),
    ]);
    await append(1, 2, 3);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen).toEqual([[changeEvent({ record: 'r1', sequence: 2 }).id, 'r1!']]);
  });

  it.each([
    ['where', { where: () => fail() }],
    ['transform', { transform: () => fail() }],
  ])('a %s that throws makes a dead letter and does not affect other subscriptions', async (_which, options) => {
    const seen: number[] = [];
    const { append, settled, dead } = await runFanOut(test, [
      aSubscription('broken', () => undefined, { ...options, retry }),
      aSubscription('sound', ({ data }) => void seen.push(data.sequence)),
    ]);
    await append(1, 2);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen).toEqual([1, 2]);
    const [letter] = await eventuallyDead(dead, 2);
    expect(letter).toMatchObject({ subscription: 'broken', reason: 'not today' });
  });
});

function fail(): never {
  throw new Error('not today');
}
