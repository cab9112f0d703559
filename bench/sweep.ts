/**
 * What a sweep costs: ours, the naive pipeline, and the bare download as the lower limit, over the same pages from a
 * server in another process, in turns within one run. Prints JSON: records per second, median of the rounds.
 *   npx tsx bench/sweep.ts [records] [rounds]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createReadApi } from '../src/api/client.js';
import { walkList } from '../src/api/visited-cursors.js';
import { compileRules } from '../src/detect/rules.js';
import { systemClock } from '../src/runtime/clock.js';
import { openRedis } from '../src/runtime/private-redis.js';
import { silentLog } from '../src/runtime/log.js';
import { Keys } from '../src/state/keys.js';
import { createSweepStore } from '../src/state/sweep-store.js';
import { sweepList } from '../src/sweep/run-sweep.js';
import { naiveSweep } from './support/naive.js';

const [records = 5_000, rounds = 5] = process.argv.slice(2).map(Number);
const stateDir = await mkdtemp(join(tmpdir(), 'changefeed-bench-'));
const server = spawn(process.execPath, ['--import', 'tsx', 'bench/support/page-server.ts', String(records)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = (await once(server.stdout, 'data')) as [Buffer];
const baseUrl = line.toString().trim();
const opened = await openRedis({ stateDir, log: silentLog });
const redis = new Redis(opened.url);
const unlimited = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
const api = createReadApi({ workspace: 'bench', baseUrl, token: 'bench', budget: unlimited });
const store = createSweepStore(redis, new Keys('bench'), 'bench');
const rules = compileRules('people');

const contestants = {
  download: async () => {
    let seen = 0;
    for await (const page of walkList(api, 'people')) seen += page.records.length;
    return seen;
  },
  ours: async () => {
    const deps = { workspace: 'bench', api, store, clock: systemClock, log: silentLog };
    const result = await sweepList(deps, { list: 'people', rules, baseline: 'quiet' });
    return result.outcome === 'complete' ? result.summary.counts.seen : 0;
  },
  naive: () => naiveSweep({ baseUrl, redis }),
};
type Contestant = keyof typeof contestants;
const names = Object.keys(contestants) as Contestant[];

async function timed(name: Contestant): Promise<number> {
  const started = performance.now();
  const seen = await contestants[name]();
  if (seen !== records) throw new Error(`${name} saw ${seen} of ${records} records`);
  return Math.round(seen / ((performance.now() - started) / 1_000));
}

async function round(share: number): Promise<Record<Contestant, number>> {
  if (share > 0) await fetch(`${baseUrl}/change?share=${share}`, { method: 'POST' });
  const speeds: Partial<Record<Contestant, number>> = {};
  for (const name of names) speeds[name] = await timed(name);
  return speeds as Record<Contestant, number>;
}

function medians(all: readonly Record<Contestant, number>[]): Record<string, number> {
  const middle = (name: Contestant): number => all.map((one) => one[name]).sort((a, b) => a - b)[all.length >> 1] ?? 0;
  const [download, ours, naive] = names.map(middle) as [number, number, number];
  const ratio = (a: number, b: number): number => Math.round((a / b) * 100) / 100;
  return { download, ours, naive, oursToNaive: ratio(ours, naive), oursToDownload: ratio(ours, download) };
}

const results: Record<string, Record<string, number>> = { allNew: medians([await round(0)]) };
for (const [name, share] of Object.entries({ unchanged: 0, onePercent: 0.01, allChanged: 1 })) {
  const all = [];
  for (let i = 0; i < rounds; i++) all.push(await round(share));
  results[name] = medians(all);
}
console.log(JSON.stringify({ unit: 'records/s', records, rounds, node: process.version, results }, null, 2));

redis.disconnect();
await api.close();
server.kill();
await opened.close();
await rm(stateDir, { recursive: true, force: true });
