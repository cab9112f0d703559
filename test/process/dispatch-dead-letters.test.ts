import { describe, expect, it } from 'vitest';
import { PermanentError } from '../../src/handlers/errors.js';
import type { Subscription } from '../../src/handlers/handler.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();

describe('dead letters', () => {
  const failing = (fail: { now: boolean }, seen: number[]): Subscription =>
    aSubscription('s', ({ data }) => {
      seen.push(data.sequence);
      if (fail.now) throw new PermanentError('not now');
    });

  it('are handled again when retried, in the order in which they died, with all their tries', async () => {
    const [fail, seen] = [{ now: true }, [] as number[]];
    const { append, settled, dead } = await runFanOut(test, [failing(fail, seen)]);
    await append(1, 2, 3);
    await settled();
    await eventuallyDead(dead, 3);
    fail.now = false;

    expect(await dead.retry()).toBe(3);

    await eventually(() => expect(seen).toEqual([1, 2, 3, 1, 2, 3]));
    expect(await dead.count()).toBe(0);
    expect(await settled()).toEqual({ outcome: 'handled' });
  });

  it('may die again, and are retried one by one', async () => {
    const [fail, seen] = [{ now: true }, [] as number[]];
    const { append, settled, dead } = await runFanOut(test, [failing(fail, seen)]);
    await append(1, 2);
    await settled();
    const letters = await eventuallyDead(dead, 2);
    const { id } = letters.find(({ event }) => event.data.sequence === 1)!;

    await dead.retry({ ids: [id] });
    await eventually(() => expect(seen).toEqual([1, 2, 1]));
    await eventuallyDead(dead, 2);

    const [again] = await dead.show(id);
    expect(again?.attempts.map(({ attempt }) => attempt)).toEqual([1, 1]);
    fail.now = false;
    expect(await dead.retry({ ids: [id] })).toBe(1);
    await eventually(() => expect(seen).toEqual([1, 2, 1, 1]));
  });

  it('are gone when dropped', async () => {
    const { append, settled, dead } = await runFanOut(test, [failing({ now: true }, [])]);
    await append(1, 2, 3);
    await settled();
    await eventuallyDead(dead, 3);

    expect(await dead.drop()).toBe(3);

    expect(await dead.list()).toEqual([]);
    expect(await dead.drop()).toBe(0);
  });

  it('of a subscription nobody knows are an error that names those known', async () => {
    const { dead } = await runFanOut(test, [failing({ now: true }, [])]);
    await expect(dead.list({ subscription: 'x' })).rejects.toMatchObject({
      code: 'CF_USAGE',
      message: 'There is no subscription "x". Known: "s".',
    });
  });
});
