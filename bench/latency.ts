/** How long a sweep takes when every answer takes 200 ms, compared with a walk along the cursors. No limit. */
import { atLeast, type Bench } from './support/bench.js';
import { download } from './support/download.js';
import { ours } from './support/ours.js';
import { withPages, withRedis } from './support/stage.js';
import { inTurns, median, rounded } from './support/turns.js';

const LATENCY_MS = 200;

export const latency: Bench = {
  name: 'latency',
  does: 'a sweep when every answer takes 200 ms, compared with a plain walk',
  records: [10_000],
  run: async ({ records: [records = 0], turns, warmUp }) =>
    await withRedis(
      async (redis) =>
        await withPages(records, async (pages) => {
          const changefeed = ours({ url: pages.url, redis });
          for (let sweep = 0; sweep < warmUp; sweep += 1) await changefeed.sweep();
          await pages.delay(LATENCY_MS);
          await pages.reset();
          await changefeed.sweep();
          const { peak, requests } = await pages.stats();
          const walk = { ...download({ ...pages, records, concurrency: () => 1 }), name: 'walk' };
          const times = await inTurns([changefeed, walk], { turns, records });
          await changefeed.close();
          const ms = (name: string): number => median((times.get(name) ?? []).map((one) => one.ms));
          return {
            median: Math.round(ms('ours')),
            unit: 'ms per sweep',
            ratios: { walk: rounded(ms('walk') / ms('ours')) },
            goals: { walk: atLeast(10) },
            facts: { records, turns, latencyMs: LATENCY_MS, inFlight: peak, requests, walkMs: Math.round(ms('walk')) },
          };
        }),
    ),
};
