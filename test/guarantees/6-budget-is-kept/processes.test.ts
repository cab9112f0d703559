import { expect, it, onTestFinished } from 'vitest';
import { createReadApi } from '../../../src/feed/api/client.js';
import { createSharedBudget } from '../../../src/feed/api/shared-budget.js';
import { systemClock } from '../../../src/kit/clock.js';
import { createBudgetWindow } from '../../../src/feed/api/budget-window.js';
import { eventually } from '../../support/eventually.js';
import { useRedis } from '../../support/redis.js';
import { served } from '../../support/sandbox.js';

/**
 * The windows are so long that the speed of the machine does not matter: all requests of a test fall into one window. Of the
 * 40 requests of a budget 4 may be sent at once; the others are spread over the minute.
 */
const BUDGET = { requests: 40, perSeconds: 60 };
const LIMIT = { requests: 44, perMs: 60_000 };
const PROCESSES = 15;
const PAGES_EACH = 4;

const redis = useRedis();

/** Many processes at once, each requesting its first pages. */
async function everybodyAsks(workspaceOf: (process: number) => string) {
  const { url, token } = (await served({ people: 5, limit: LIMIT })).target;
  const answers: number[] = [];
  const stopping = Array.from({ length: PROCESSES }, () => new AbortController());
  const apis = Array.from({ length: PROCESSES }, (_, nth) =>
    createReadApi({
      workspace: 'acme',
      baseUrl: url,
      token,
      attempts: 1,
      budget: createSharedBudget({
        window: createBudgetWindow({ redis: redis.redis, keys: redis.keys, workspace: workspaceOf(nth) }),
        limits: BUDGET,
        clock: systemClock,
      }),
      observe: ({ status }) => void answers.push(status ?? 0),
    }),
  );
  onTestFinished(async () => {
    await Promise.all(apis.map((api) => api.close()));
  });
  const asking = apis.map(async (api, nth) => {
    for (let page = 0; page < PAGES_EACH; page += 1)
      await api.fetchPage('people', { cursor: null, page: 1, signal: stopping[nth]!.signal });
  });
  const done = Promise.allSettled(asking);
  return { answers, done, stop: () => stopping.forEach((one) => one.abort()) };
}

it('budget: all processes together stay within it, and wait instead of being refused', async () => {
  const { answers, done, stop } = await everybodyAsks(() => 'acme');
  // Those that may be sent at once, and one that had to wait.
  await eventually(() => expect(answers.length).toBeGreaterThanOrEqual(5));
  stop();
  await done;
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(answers.length).toBeLessThanOrEqual(BUDGET.requests);
});

it('budget: with one budget per process they exceed the limit (control)', async () => {
  const { answers, done } = await everybodyAsks((nth) => `acme-${nth}`);
  await done;
  expect(answers.filter((status) => status === 200)).toHaveLength(LIMIT.requests);
  expect(answers).toContain(429);
});
