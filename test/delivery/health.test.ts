import { beforeEach, describe, expect, it } from 'vitest';
import { createRecordGate } from '../../src/delivery/groups/gate.js';
import { createHealthStore, type HealthStore } from '../../src/delivery/health.js';
import { useRedis } from '../support/redis.js';

const DAY = 86_400_000;
const T0 = Date.parse('2026-03-02T00:00:00.000Z');
const test = useRedis();
let health: HealthStore;
beforeEach(() => (health = createHealthStore(test.redis, test.keys)));

/** As the run of a delivery does, when the handler has succeeded. */
async function succeed(): Promise<void> {
  const claim = { workspace: 'acme', group: null, id: 'evt_1', token: '' };
  await createRecordGate(test.redis, test.keys).handled('ops', claim);
}

function fail(days: number): Promise<string> {
  return health.failed('ops', {
    nowMs: T0 + days * DAY,
    disableAfterMs: 5 * DAY,
    reason: `day ${days}`,
    error: { workspace: 'acme', message: `error ${days}` },
  });
}

async function failDaily(upTo: number): Promise<string[]> {
  const words: string[] = [];
  for (let day = 0; day <= upTo; day += 1) words.push(await fail(day));
  return words;
}

describe('the health of a subscription', () => {
  it('circuit breaker: a subscription whose attempts have all failed for disableAfter is paused once', async () => {
    expect(await failDaily(6)).toEqual([...Array<string>(5).fill('failing'), 'pausing', 'paused']);
    expect(await health.read('ops')).toEqual({
      failingSinceMs: T0,
      failures: 6,
      lastError: { workspace: 'acme', message: 'error 5' },
      paused: { at: '2026-03-07T00:00:00.000Z', reason: 'day 5', missing: false },
    });
  });

  it('circuit breaker: after a success the time starts again at the next failure', async () => {
    await failDaily(3);
    await succeed();
    expect(await health.read('ops')).toMatchObject({ failingSinceMs: null, failures: 0 });
    expect(await fail(4)).toBe('failing');
    expect(await fail(5)).toBe('failing');
    expect(await health.read('ops')).toMatchObject({
      failingSinceMs: T0 + 4 * DAY,
      failures: 2,
      lastError: { workspace: 'acme', message: 'error 5' },
    });
  });

  it('circuit breaker: two failures a week apart are not one outage', async () => {
    await fail(0);
    expect(await fail(7)).toBe('failing');
    expect((await health.read('ops')).failingSinceMs).toBe(T0 + 7 * DAY);
  });

  it('circuit breaker: failures of a clock that was ahead do not hide those of now', async () => {
    await fail(0.1);
    expect(await fail(0)).toBe('failing');
    expect(await health.read('ops')).toMatchObject({ failingSinceMs: T0, failures: 1 });
  });

  it('circuit breaker: reasons quote people and endpoints, and are stored without control characters', async () => {
    await health.pause('ops', { atMs: T0, reason: 'x\u001b[2J\u001b]0;PWNED\u0007\u009b\u202e\ny' });
    expect((await health.read('ops')).paused?.reason).toBe('x[2J]0;PWNED y');
  });
});
