import { expect, it, onTestFinished } from 'vitest';
import type { Budget } from '../../../src/feed/api/budget.js';
import { createReadApi } from '../../../src/feed/api/client.js';
import { createSharedBudget } from '../../../src/feed/api/shared-budget.js';
import { isAborted, systemClock } from '../../../src/kit/clock.js';
import { createBudgetWindow } from '../../../src/feed/api/budget-window.js';
import { eventually } from '../../support/eventually.js';
import { useRedis } from '../../support/redis.js';
import { served } from '../../support/sandbox.js';

/** As the known limit, with windows of a second in place of ten. */
const LIMIT = { requests: 100, perMs: 1_000 };
const BUDGET = { requests: 100, perSeconds: 1 };
/** Half of the limit, by another client. */
const FOREIGN_PER_SECOND = 50;

const redis = useRedis();

/** Asks for pages without end. Returns the status of every answer so far. */
async function askWithoutEnd(budget: Budget) {
  const { sandbox, target } = await served({ people: 5, limit: LIMIT });
  sandbox.behave({ foreignPerSecond: FOREIGN_PER_SECOND });
  const { url, token } = target;
  const answers: number[] = [];
  const observe = ({ status }: { status: number | null }) => void answers.push(status ?? 0);
  const api = createReadApi({ workspace: 'acme', baseUrl: url, token, budget, observe });
  onTestFinished(() => api.close());
  const stop = new AbortController();
  const askers = Array.from({ length: 8 }, async () => {
    while (!isAborted(stop.signal))
      await api.fetchPage('people', { cursor: null, page: 1, signal: AbortSignal.any([stop.signal]) });
  });
  const done = Promise.allSettled(askers);
  return { answers, end: () => (stop.abort(), done) };
}

const refusedOf = (answers: readonly number[]): number => answers.filter((status) => status === 429).length;

it('budget: hardly any request is refused once the level is known', async () => {
  const window = createBudgetWindow({ redis: redis.redis, keys: redis.keys, workspace: 'acme' });
  const { answers, end } = await askWithoutEnd(createSharedBudget({ window, limits: BUDGET, clock: systemClock }));
  await eventually(() => expect(refusedOf(answers)).toBeGreaterThan(0));
  // From the first refusals until the level is known: some seconds.
  await eventually(() => expect(refusedOf(answers.slice(-150))).toBe(0));
  const from = answers.length;
  await eventually(() => expect(answers.length - from).toBeGreaterThanOrEqual(500));
  await end();
  // On an exact clock 1. Windows of a second leave ten milliseconds for what the machine does to the times.
  expect(refusedOf(answers.slice(from))).toBeLessThanOrEqual(10);
});

it('budget: without adapting, a large part of the requests is refused (control)', async () => {
  const window = createBudgetWindow({ redis: redis.redis, keys: redis.keys, workspace: 'acme' });
  const forgetful = createSharedBudget({
    window: { ...window, refused: () => Promise.resolve() },
    limits: BUDGET,
    clock: systemClock,
  });
  const { answers, end } = await askWithoutEnd(forgetful);
  await eventually(() => expect(answers.length).toBeGreaterThanOrEqual(100));
  // A busy machine may send too few for a while.
  await eventually(() => expect(refusedOf(answers.slice(100))).toBeGreaterThan(20));
  await end();
});
