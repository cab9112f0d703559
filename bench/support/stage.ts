/** What the benchmarks of a sweep share: the page server, a Redis of their own, the four contestants, and their comparison. */
import { Redis } from 'ioredis';
import { launchRedis } from '../../test/support/private-redis.js';
import type { Flags, Goal, Measured } from './bench.js';
import { download } from './download.js';
import { batched, naive } from './naive.js';
import { ours } from './ours.js';
import { startPages, type PageServer } from './pages.js';
import { inTurns, median, rounded, type Contestant, type Rounds, type Timed } from './turns.js';

export interface Stage {
  readonly pages: PageServer;
  readonly redis: Redis;
  /** Ours first. */
  readonly contestants: readonly Contestant[];
  readonly records: number;
  /** The requests that ours had in flight at most; the download has as many. */
  readonly inFlight: () => number;
}

/** Nothing on disk: a busy disk would hinder the contestants that write most. */
export const REDIS_SETTINGS = ['appendonly no'];

export async function withRedis<T>(use: (redis: Redis, url: string) => Promise<T>): Promise<T> {
  const server = await launchRedis({ settings: REDIS_SETTINGS });
  const redis = new Redis(server.url);
  redis.on('error', () => undefined);
  try {
    return await use(redis, server.url);
  } finally {
    // The connection goes last: the server's process does not keep this one alive until its end is known.
    await server.close();
    redis.disconnect();
  }
}

export async function withPages<T>(records: number, use: (pages: PageServer) => Promise<T>): Promise<T> {
  const pages = await startPages(records);
  try {
    return await use(pages);
  } finally {
    await pages.close();
  }
}

export async function onStage<T>(records: number, use: (stage: Stage) => Promise<T>): Promise<T> {
  return await withRedis(
    async (redis) =>
      await withPages(records, async (pages) => {
        const changefeed = ours({ url: pages.url, redis });
        const inFlight = (): number => Math.max(1, changefeed.inFlight());
        const { url, paths } = pages;
        const contestants = [
          changefeed,
          download({ url, paths, records, concurrency: inFlight }),
          naive({ url, redis }),
          batched({ url, redis }),
        ];
        try {
          return await use({ pages, redis, contestants, records, inFlight });
        } finally {
          await changefeed.close();
        }
      }),
  );
}

/** All contestants read the list, ours several times, so that caches, digests and learned cursors are in place. */
export async function warmUp({ contestants }: Stage, sweeps: number): Promise<void> {
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    for (const { name, sweep: run } of contestants) if (sweep === 0 || name === 'ours') await run();
  }
}

export async function compare(stage: Stage, turns: Rounds): Promise<Comparison> {
  const times = await inTurns(stage.contestants, { ...turns, records: stage.records });
  const own = medianMs(times.get('ours'));
  const ratios: Record<string, number> = {};
  for (const { name } of stage.contestants.slice(1)) {
    const other = medianMs(times.get(name));
    // Against the download the ratio is a cost, against the pipelines it is a gain.
    ratios[name] = rounded(name === 'download' ? own / other : other / own);
  }
  const perSecond = (ms: number): number => Math.round((stage.records / ms) * 1_000);
  const contestants = Object.fromEntries(
    [...times].map(([name, timed]) => [
      name,
      { perSecond: perSecond(medianMs(timed)), cpuUsPerRecord: rounded((medianCpu(timed) / stage.records) * 1_000, 1) },
    ]),
  );
  return { median: perSecond(own), ratios, contestants };
}

export interface Comparison {
  /** Records per second of ours. */
  median: number;
  ratios: Record<string, number>;
  contestants: Record<string, { perSecond: number; cpuUsPerRecord: number }>;
}

const medianMs = (times: readonly Timed[] = []): number => median(times.map(({ ms }) => ms));
const medianCpu = (times: readonly Timed[] = []): number => median(times.map(({ cpuMs }) => cpuMs));

export function measured(
  { median: own, ratios, contestants }: Comparison,
  { goals, stage, flags }: { goals: Record<string, Goal>; stage: Stage; flags: Flags },
): Measured {
  return {
    median: own,
    unit: 'records/s',
    ratios,
    goals,
    facts: { records: stage.records, turns: flags.turns, inFlight: stage.inFlight(), contestants },
  };
}
