/**
 * How much of the limit of 100 requests per sliding 10 s a feed uses while there is work, and how often it gets 429: alone, and with
 * another client that takes half. The budget is the whole limit.
 */
import { systemClock } from '../src/kit/clock.js';
import { atLeast, atMost, type Bench } from './support/bench.js';
import { openFeed } from './support/feed.js';
import type { PageServer } from './support/pages.js';
import { withPages, withRedis } from './support/stage.js';
import { rounded } from './support/turns.js';

const LIMIT = { requests: 100, perMs: 10_000 };
/** One window is needed to reach a steady state. */
const SETTLE_MS = 12_000;

interface Used {
  /** The share of what the other client leaves. */
  used: number;
  requests: number;
  refused: number;
}

export const budget: Bench = {
  name: 'budget',
  does: 'the share of the request limit that is used, and 429s, alone and with another client',
  records: [50_000],
  run: async ({ records: [records = 0], more }) => {
    const seconds = Number(more['seconds'] ?? 60);
    const alone = await measure(records, { seconds, foreignPerSecond: 0 });
    const shared = await measure(records, { seconds, foreignPerSecond: 5 });
    return {
      median: alone.used,
      unit: 'share of the limit',
      ratios: {
        limit: alone.used,
        '429, alone': alone.refused,
        '429 per answer, with another client': rounded(shared.refused / Math.max(1, shared.requests), 4),
        'limit, with another client': shared.used,
      },
      goals: {
        limit: atLeast(0.98),
        '429, alone': atMost(0),
        '429 per answer, with another client': atMost(0.01),
        'limit, with another client': atLeast(0.9),
      },
      facts: { records, seconds, alone, shared },
    };
  },
};

async function measure(records: number, load: { seconds: number; foreignPerSecond: number }): Promise<Used> {
  return await withRedis(
    async (_redis, redisUrl) =>
      await withPages(records, async (pages) => {
        await pages.limit({ ...LIMIT, foreignPerSecond: load.foreignPerSecond });
        const feed = await openFeed({
          redisUrl,
          workspaces: [{ name: 'bench', baseUrl: pages.url, token: 'bench' }],
          budget: { requests: LIMIT.requests, perSeconds: LIMIT.perMs / 1_000 },
          lists: ['people'],
        });
        try {
          await feed.start(['poll']);
          return await used(pages, load);
        } finally {
          await feed.stop();
        }
      }),
  );
}

async function used(
  pages: PageServer,
  { seconds, foreignPerSecond }: { seconds: number; foreignPerSecond: number },
): Promise<Used> {
  await systemClock.sleep(SETTLE_MS);
  await pages.reset();
  const started = systemClock.now();
  await systemClock.sleep(seconds * 1_000);
  const { requests, refused } = await pages.stats();
  const passed = (systemClock.now() - started) / LIMIT.perMs;
  const left = LIMIT.requests - (foreignPerSecond * LIMIT.perMs) / 1_000;
  return { used: rounded((requests - refused) / (passed * left), 3), requests, refused };
}
