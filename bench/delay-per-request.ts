/** The delay of changes against requests per minute: a curve for a feed, and one for a walk of all lists without end. */
import { atMost, type Bench } from './support/bench.js';
import { readWorld, type ReadWorld } from './support/lived-workspace.js';
import { rounded } from './support/turns.js';

const REQUESTS_PER_10_S = [10, 20, 40, 80];

export const delayPerRequest: Bench = {
  name: 'delay-per-request',
  does: 'p50 and p99 of the delay against requests per minute, for a feed and for a plain walk',
  records: [],
  run: async ({ more }) => {
    const fixed = {
      scale: Number(more['scale'] ?? 0.02),
      latencyMs: 200,
      rate: Number(more['rate'] ?? 1),
      walks: Number(more['walks'] ?? 4),
    };
    const curve: Point[] = [];
    for (const requests of REQUESTS_PER_10_S) {
      const world = { ...fixed, budget: { requests, perSeconds: 10 } };
      const [walk, ours] = [await readWorld(world, 'walk'), await readWorld(world, 'changefeed')];
      curve.push({ budgetPerMinute: requests * 6, ours: pointOf(ours), walk: pointOf(walk) });
    }
    const worst = (of: 'p50' | 'p99'): number =>
      rounded(Math.max(...curve.map(({ ours, walk }) => ours[of] / walk[of])));
    const [p50, p99] = [worst('p50'), worst('p99')];
    return {
      median: curve.at(-1)?.ours.p50 ?? Number.NaN,
      unit: 'seconds, p50 at the largest budget',
      ratios: { 'walk, worst p50': p50, 'walk, worst p99': p99 },
      goals: { 'walk, worst p50': atMost(1), 'walk, worst p99': atMost(1) },
      facts: { ...fixed, curve },
    };
  },
};

interface Delay {
  requestsPerMinute: number;
  p50: number;
  p99: number;
}

interface Point {
  budgetPerMinute: number;
  ours: Delay;
  walk: Delay;
}

function pointOf({ all, requestsPerMinute }: ReadWorld): Delay {
  return { requestsPerMinute, p50: all.p50, p99: all.p99 };
}
