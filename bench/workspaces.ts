/**
 * What a request costs when one process polls many workspaces, each at its full budget, compared with one workspace. Counted in
 * processor time of this process, so that a busy machine affects it less.
 */
import { systemClock } from '../src/kit/clock.js';
import { atLeast, atMost, type Bench } from './support/bench.js';
import { openFeed } from './support/feed.js';
import { withPages, withRedis } from './support/stage.js';
import { rounded } from './support/turns.js';

const BUDGET = { requests: 100, perSeconds: 10 };
const REQUESTS_PER_SECOND = BUDGET.requests / BUDGET.perSeconds;

interface Load {
  workspaces: number;
  requestsPerSecond: number;
  cpuMsPerRequest: number;
}

export const workspaces: Bench = {
  name: 'workspaces',
  does: 'processor time per request with many workspaces in one process, compared with one',
  records: [2_000],
  run: async ({ records: [records = 0], more }) => {
    const seconds = Number(more['seconds'] ?? 60);
    const one = await measure(records, { count: 1, seconds });
    const many = await measure(records, { count: Number(more['workspaces'] ?? 200), seconds });
    const perCore = Math.floor(1_000 / (many.cpuMsPerRequest * REQUESTS_PER_SECOND));
    return {
      median: many.cpuMsPerRequest,
      unit: 'ms of processor time per request',
      ratios: {
        'one workspace': rounded(many.cpuMsPerRequest / one.cpuMsPerRequest),
        'workspaces at full budget per core': perCore,
      },
      goals: { 'one workspace': atMost(1.15), 'workspaces at full budget per core': atLeast(150) },
      facts: { records, seconds, one, many },
    };
  },
};

async function measure(records: number, { count, seconds }: { count: number; seconds: number }): Promise<Load> {
  return await withRedis(
    async (_redis, redisUrl) =>
      await withPages(records, async (pages) => {
        const names = Array.from({ length: count }, (_, nth) => `bench-${nth}`);
        const feed = await openFeed({
          redisUrl,
          workspaces: names.map((name) => ({ name, baseUrl: pages.url, token: 'bench' })),
          budget: BUDGET,
          lists: ['people'],
        });
        try {
          await feed.sweep();
          await feed.start(['poll']);
          await systemClock.sleep(5_000);
          await pages.reset();
          const cpu = process.cpuUsage();
          await systemClock.sleep(seconds * 1_000);
          const { user, system } = process.cpuUsage(cpu);
          const { requests } = await pages.stats();
          const cpuMsPerRequest = rounded((user + system) / 1_000 / Math.max(1, requests), 3);
          return { workspaces: count, requestsPerSecond: rounded(requests / seconds, 1), cpuMsPerRequest };
        } finally {
          await feed.stop();
        }
      }),
  );
}
