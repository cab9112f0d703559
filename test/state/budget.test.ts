import { describe, expect, it } from 'vitest';
import { bucketOf, createBudget } from '../../src/state/budget.js';
import { systemClock } from '../../src/runtime/clock.js';
import { useRedis } from '../support/redis.js';

describe('the request budget', () => {
  const redis = useRedis();
  const limits = { requests: 20, perSeconds: 1 };
  const budget = () =>
    createBudget({ redis: redis.connect(), keys: redis.keys, workspace: 'acme', limits, clock: systemClock });

  it('budget: several processes together stay within the limit', async () => {
    const processes = [budget(), budget(), budget()];
    const takeTen = async (one: ReturnType<typeof budget>): Promise<void> => {
      for (let i = 0; i < 10; i++) await one.take();
    };
    const started = performance.now();
    await Promise.all(processes.map(takeTen));

    // A lower bound holds on a slow machine too: 30 requests at 20 per second, 2 of them at once.
    const { priceMs, burstMs } = bucketOf(limits);
    expect(performance.now() - started).toBeGreaterThan(30 * priceMs - burstMs - 10);
  });

  it('budget: after a 429 all processes pause for the longest wait announced', async () => {
    const [one, other] = [budget(), budget()];
    await one.pause(60_000);
    await one.pause(10);
    const impatient = AbortSignal.timeout(100);
    await expect(other.take(impatient)).rejects.toThrow();
    expect(await redis.redis.pttl(redis.keys.budgetPause('acme'))).toBeGreaterThan(50_000);
  });

  it('budget: a pause of one workspace does not pause another', async () => {
    await budget().pause(60_000);
    const elsewhere = { redis: redis.redis, keys: redis.keys, workspace: 'other', limits, clock: systemClock };
    await expect(createBudget(elsewhere).take(AbortSignal.timeout(5_000))).resolves.toBeUndefined();
  });
});

describe('the bucket', () => {
  it.each([
    { requests: 80, perSeconds: 10 },
    { requests: 100, perSeconds: 10 },
    { requests: 1, perSeconds: 1 },
    { requests: 3, perSeconds: 60 },
    { requests: 100_000, perSeconds: 10 },
  ])('budget: $requests requests per $perSeconds s are not exceeded in any window', ({ requests, perSeconds }) => {
    const { priceMs, burstMs } = bucketOf({ requests, perSeconds });
    const burst = Math.round(burstMs / priceMs);
    const flowingIn = Math.ceil((perSeconds * 1_000) / priceMs - 1e-6) - 1;
    expect(burst).toBeGreaterThanOrEqual(1);
    expect(burst + flowingIn).toBeLessThanOrEqual(requests);
  });
});
