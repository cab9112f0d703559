import { expect, it } from 'vitest';
import type { BudgetLimits, WindowAnswer, WindowAsk } from '../../../src/feed/api/budget.js';
import { createSharedBudget, type SharedBudget } from '../../../src/feed/api/shared-budget.js';
import { isAborted, systemClock } from '../../../src/kit/clock.js';
import { createBudgetWindow, readBudgetUse } from '../../../src/feed/api/budget-window.js';
import { createReads } from '../../../src/redis/reads.js';
import { eventually } from '../../support/eventually.js';
import { useRedis } from '../../support/redis.js';

const WALK = { list: 'people', kind: 'walk' } as const;

/** The most requests in any stretch of this length, by the clock of Redis. A fullest one ends with a request. */
function fullest(grants: ReadonlyMap<string, number>, ms: number): number {
  const times = [...grants.values()].sort((one, other) => one - other);
  const requestsUntil = (end: number): number => times.filter((at) => at > end - ms && at <= end).length;
  return Math.max(0, ...times.map(requestsUntil));
}

const redis = useRedis();
const window = (workspace = 'acme') => createBudgetWindow({ redis: redis.connect(), keys: redis.keys, workspace });
const budget = (limits: BudgetLimits, own = window()) =>
  createSharedBudget({ window: own, limits, clock: systemClock });

/** Adds the requests in the window to the grants: workspace and number → time. */
async function record(grants: Map<string, number>, workspace = 'acme'): Promise<void> {
  const entries = await redis.redis.zrange(redis.keys.budgetWindow(workspace), '0', '-1', 'WITHSCORES');
  for (let at = 0; at < entries.length; at += 2) grants.set(`${workspace} ${entries[at]}`, Number(entries[at + 1]));
}

async function takeForever(own: SharedBudget, stop: AbortSignal): Promise<void> {
  while (!isAborted(stop)) await own.take({ ...WALK, signal: AbortSignal.any([stop]) });
}

it('budget: no window has more requests than allowed, and nearly all are used, by several processes', async () => {
  const limits = { requests: 100, perSeconds: 3 };
  const grants = new Map<string, number>();
  const stop = new AbortController();
  const takers = Array.from({ length: 4 }, () => budget(limits)).flatMap((own) =>
    Array.from({ length: 10 }, () => takeForever(own, stop.signal)),
  );
  await eventually(async () => {
    await record(grants);
    expect(fullest(grants, 6_000)).toBeGreaterThanOrEqual(0.98 * 200);
  });
  stop.abort();
  await Promise.allSettled(takers);
  expect(fullest(grants, 3_000)).toBeLessThanOrEqual(100);
});

it('budget: no request is due later than a window from now, whatever is stored', async () => {
  const ask = { wanted: 1, allowed: 10, burst: 1, windowMs: 1_000, refusal: null };
  const own = window();
  await own.take(ask);
  await redis.redis.hset(redis.keys.budget('acme'), 'free', '1e12');
  expect(await own.take(ask)).toMatchObject({ outcome: 'granted', requests: 0, waitMs: 1_000 });
  await eventually(async () => expect(await own.take(ask)).toMatchObject({ requests: 1 }));
});

it.each(['ends', 'last', 'free', 'count'])(
  'budget: a damaged `%s` blocks it for no longer than a window',
  async (field) => {
    const ask = { wanted: 1, allowed: 10, burst: 1, windowMs: 1_000, refusal: null };
    for (const damaged of ['1e30', '-9223372036854036480', '9224358002751547392.000000', 'nan', 'inf', '', '\u0000']) {
      const own = window(damaged);
      await own.take(ask);
      await redis.redis.hset(redis.keys.budget(damaged), field, damaged);
      await eventually(async () => expect(await own.take(ask)).toMatchObject({ requests: 1 }), { timeoutMs: 5_000 });
    }
  },
);

it('budget: the used share is that of the last window', async () => {
  const limits = { requests: 10, perSeconds: 1 };
  const used = async (): Promise<number> => {
    const reads = createReads(redis.redis);
    return (await readBudgetUse({ reads, keys: redis.keys, workspace: 'acme' }, limits)).used;
  };
  expect(await used()).toBe(0);
  await window().take({ wanted: 5, allowed: 10, burst: 10, windowMs: 1_000, refusal: null });
  expect(await used()).toBe(0.5);
  await eventually(async () => expect(await used()).toBe(0));
});

it('budget: one of many waiting requests of a process asks for all', async () => {
  const inner = window();
  const asks: WindowAsk[] = [];
  const counting = { ...inner, take: (ask: WindowAsk) => (asks.push(ask), inner.take(ask)) };
  const own = budget({ requests: 20, perSeconds: 1 }, counting);
  await Promise.all(Array.from({ length: 40 }, () => own.take(WALK)));
  // Two at once, then one by one, and a few more because timers are not exact. Each waiting for itself would ask 800 times.
  expect(asks.length).toBeLessThan(100);
  expect(Math.max(...asks.map(({ wanted }) => wanted))).toBeGreaterThanOrEqual(38);
});

it('budget: a request that stops waiting takes nothing and does not hold up the others', async () => {
  const own = budget({ requests: 1, perSeconds: 1 });
  await own.take(WALK);
  const impatient = own.take({ ...WALK, signal: AbortSignal.timeout(50) });
  const patient = own.take(WALK);
  await expect(impatient).rejects.toThrow(/timeout/i);
  await expect(patient).resolves.toBeUndefined();
});

it('budget: after a 429 all processes pause for the longest wait announced', async () => {
  const limits = { requests: 20, perSeconds: 1 };
  const [one, other] = [budget(limits), budget(limits)];
  await one.pause(60_000);
  await one.pause(10);
  await expect(other.take({ ...WALK, signal: AbortSignal.timeout(100) })).rejects.toThrow();
  expect(await redis.redis.pttl(redis.keys.budgetPause('acme'))).toBeGreaterThan(50_000);
});

it('budget: a pause of one workspace does not pause another', async () => {
  const limits = { requests: 20, perSeconds: 1 };
  await budget(limits).pause(60_000);
  await expect(
    budget(limits, window('other')).take({ ...WALK, signal: AbortSignal.timeout(5_000) }),
  ).resolves.toBeUndefined();
});

it('budget: a failure of Redis is that of every waiting request, and the next ones ask again', async () => {
  const inner = window();
  const failures = [new Error('Redis is away')];
  const take = (ask: WindowAsk): Promise<WindowAnswer> => {
    const failure = failures.pop();
    return failure === undefined ? inner.take(ask) : Promise.reject(failure);
  };
  const own = budget({ requests: 20, perSeconds: 1 }, { ...inner, take });
  const results = await Promise.allSettled([own.take(WALK), own.take(WALK)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(own.take(WALK)).resolves.toBeUndefined();
});

const ask: WindowAsk = { wanted: 5, allowed: 5, burst: 5, windowMs: 60_000, refusal: null };

it('budget: after a refusal only those get requests who know it; refusals of one moment count once', async () => {
  const [one, other] = [window(), window()];
  expect(await one.take({ ...ask, wanted: 4 })).toEqual({ outcome: 'granted', requests: 4, waitMs: 0 });
  await one.refused({ pauseMs: 1, recentMs: 60_000 });
  await other.refused({ pauseMs: 1, recentMs: 60_000 });
  const answer = await other.take(ask);
  expect(answer).toMatchObject({ outcome: 'other refusal', refusal: { level: 3 } });
  const known = answer.outcome === 'other refusal' ? (answer.refusal?.id ?? '') : '';
  const granted = await eventuallyGranted(() => one.take({ ...ask, refusal: known }));
  expect(granted).toMatchObject({ requests: 1 });
});

async function eventuallyGranted(take: () => Promise<WindowAnswer>): Promise<WindowAnswer> {
  for (;;) {
    const answer = await take();
    if (answer.outcome !== 'granted' || answer.requests > 0) return answer;
  }
}

it('budget: the keys expire when it is not used', async () => {
  await window().take(ask);
  const { redis: connection, keys } = redis;
  expect(await connection.pttl(keys.budget('acme'))).toBeGreaterThan(0);
  expect(await connection.pttl(keys.budgetWindow('acme'))).toBeGreaterThan(0);
});

it('budget: when the clock of Redis steps back, the budget goes on', async () => {
  const own = window();
  const { redis: connection, keys } = redis;
  await own.take({ ...ask, windowMs: 300, burst: 1 });
  // A step back by a minute makes every TTL a minute longer.
  const ttl = await connection.pttl(keys.budget('acme'));
  await connection.pexpire(keys.budget('acme'), ttl + 60_000);
  const next = await own.take({ ...ask, wanted: 1, windowMs: 300, burst: 1 });
  expect(next.outcome === 'granted' && next.waitMs).toBeLessThanOrEqual(301);
});
