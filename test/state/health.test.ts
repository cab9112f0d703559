import { beforeEach, describe, expect, it } from 'vitest';
import { RedisHealthStore } from '../../src/state/health.js';
import { useRedis } from '../support/redis.js';

const DAY = 86_400_000;
const T0 = Date.parse('2026-03-02T00:00:00.000Z');
const test = useRedis();
let health: RedisHealthStore;
beforeEach(() => (health = new RedisHealthStore(test.redis, test.keys)));

/** Notes a failure `days` after the first one. */
function fail(
  days: number,
  { succeeded = 0, after = 5 }: { succeeded?: number; after?: number } = {},
): Promise<string> {
  const nowMs = T0 + days * DAY;
  const succeededAtMs = succeeded === 0 ? 0 : T0 + succeeded * DAY;
  return health.failed('ops', { nowMs, succeededAtMs, disableAfterMs: after * DAY, reason: `day ${days}` });
}

async function failDaily(upTo: number, options?: { succeeded?: number; after?: number }): Promise<string[]> {
  const words: string[] = [];
  for (let day = 0; day <= upTo; day += 1) words.push(await fail(day, options));
  return words;
}

describe('the health of a subscription', () => {
  it('ends in its being disabled when all tries have failed for disableAfter, once', async () => {
    expect(await failDaily(6)).toEqual([...Array<string>(5).fill('failing'), 'disabling', 'disabled']);
    expect(await health.read('ops')).toEqual({
      failingSinceMs: T0,
      disabled: { at: '2026-03-07T00:00:00.000Z', reason: 'day 5', missing: false },
    });
  });

  it('is counted anew from the first failure after a success', async () => {
    await failDaily(3);
    expect(await fail(4, { succeeded: 3.5 })).toBe('failing');
    expect(await fail(5, { succeeded: 3.5 })).toBe('failing');
    expect((await health.read('ops')).failingSinceMs).toBe(T0 + 4 * DAY);
  });

  it('is counted anew after two days without any try: two failures a week apart are no outage', async () => {
    await fail(0);
    expect(await fail(7)).toBe('failing');
    expect((await health.read('ops')).failingSinceMs).toBe(T0 + 7 * DAY);
  });

  it('never ends so without disableAfter', async () => {
    expect(new Set(await failDaily(30, { after: 0 }))).toEqual(new Set(['failing']));
  });

  it('is good again when it is enabled, and what was counted is forgotten', async () => {
    await failDaily(5);
    expect(await health.enable('ops')).toMatchObject({ reason: 'day 5' });
    expect(await health.enable('ops')).toBeNull();
    expect(await health.read('ops')).toEqual({ failingSinceMs: null, disabled: null });
    expect(await fail(5.1)).toBe('failing');
  });

  it('is disabled by one of many at once, whose reason stays', async () => {
    const both = ['one', 'two'].map((reason) => health.disable('ops', { atMs: T0, reason }));
    expect((await Promise.all(both)).toSorted()).toEqual(['disabled', 'disabling']);
    expect((await health.read('ops')).disabled?.reason).toBe('one');
  });
});
