/**
 * A simple model of many workspaces, from what `many` measures to what cannot be measured on one machine: 10,000 workspaces and a billion records.
 * No new measurement; the model is checked against measured runs (docs/internals/scaling.md).
 */
import { atLeast, atMost, type Bench } from './support/bench.js';
import { median, rounded } from './support/turns.js';

const PAGE = 50;
/** Measured by `many`: processor ms of the service and of Redis per request, and bytes of Redis per record with images. */
const COST = { ms: 1.5, redisMs: 0.15, bytes: 575 };
/** Half of the requests are walks where everything changes a little, and the slowest changes wait for one. */
const WALKS_OF_REQUESTS = 0.5;

/** Pages of all workspaces, requests per second and p95 of the delay as measured: one core, half, a quarter, two quarters. */
const RUNS: readonly [pages: number, requestsPerSecond: number, p95: number][] = [
  [2_800, 562, 11],
  [2_800, 540, 10.4],
  [2_800, 341, 19.3],
  [1_400, 139, 21.7],
  [1_400, 244, 13.8],
];

export const scaling: Bench = {
  name: 'scaling',
  does: 'cores, Redis and delay for so many workspaces and records, by a model that is compared with measured runs',
  records: [100_000],
  run: ({ records: [records = 0], more }) => {
    const workspaces = Number(more['workspaces'] ?? 10_000);
    const wanted = (workspaces * Number(more['requests'] ?? 80)) / 10;
    const cores = Number(more['cores'] ?? (wanted * COST.ms) / 1_000);
    const requestsPerSecond = Math.min(wanted, (cores * 1_000) / COST.ms);
    // The last page of each of six lists is half full on average.
    const pages = workspaces * Math.max(6, Math.ceil(records / PAGE) + 3);
    const fits = RUNS.map(([of, perSecond, p95]) => p95 / delayOf(of, perSecond));
    return Promise.resolve({
      median: rounded(delayOf(pages, requestsPerSecond), 1),
      unit: 'seconds, p95 of the delay of a change that only walks find',
      ratios: {
        'measured against modelled, median': rounded(median(fits)),
        lowest: rounded(Math.min(...fits)),
        highest: rounded(Math.max(...fits)),
      },
      goals: { lowest: atLeast(0.7), highest: atMost(1.3) },
      facts: {
        ...{ workspaces, recordsInAll: workspaces * records, requestsPerSecond: Math.round(requestsPerSecond) },
        cores: rounded(cores, 1),
        redisCores: rounded((requestsPerSecond * COST.redisMs) / 1_000, 1),
        redisGb: rounded((workspaces * records * COST.bytes) / 1e9, 1),
      },
    });
  },
};

function delayOf(pages: number, requestsPerSecond: number): number {
  return pages / (WALKS_OF_REQUESTS * requestsPerSecond);
}
