/**
 * Runs storms for many seeds and prints a table of the results (`npm run verify:order`). Exits 1 when a guarantee was violated, 3 when a storm
 * took longer than it may, so that nothing is decided.
 * Options: --seeds N, --seed N (the first), --events N, --records N, --handlers N, --seconds N, --ungated (the control), --cluster (three masters, of which
 * one is restarted in place of the only server), --sentinel (instead of a restart, the replica takes over)
 */
import { parseArgs } from 'node:util';
import { NotDecidedError } from '../storm/limit.js';
import { LONG, planStorm, type StormSize } from '../storm/plan.js';
import { runStorm } from '../storm/storm.js';
import { launchRedis, type PrivateRedis } from '../support/private-redis.js';
import { launchCluster } from '../support/redis-cluster.js';
import { launchWatchedRedis } from '../support/redis-sentinel.js';

type StormRedis = Pick<PrivateRedis, 'url' | 'kill' | 'restart' | 'close'>;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: process.env['STORM_SEED'] ?? '1' },
    seeds: { type: 'string', default: '30' },
    events: { type: 'string', default: String(LONG.events) },
    records: { type: 'string', default: String(LONG.records) },
    handlers: { type: 'string', default: String(LONG.handlers) },
    seconds: { type: 'string', default: String(LONG.stormMs / 1_000) },
    ungated: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    sentinel: { type: 'boolean', default: false },
  },
});
const redis = values.cluster ? await launchMasters() : values.sentinel ? await launchSwitched() : await launchRedis();

/** A killed master would be replaced by one that lacks the last writes, events of the storm among them. */
async function launchSwitched(): Promise<StormRedis> {
  const { url, switchOver, close } = await launchWatchedRedis();
  return { url, close, kill: () => Promise.resolve(), restart: switchOver };
}

async function launchMasters(): Promise<StormRedis> {
  const cluster = await launchCluster({ persists: true });
  const { url, masters } = cluster;
  let turn = 0;
  const next = (): PrivateRedis => masters[turn % masters.length] as PrivateRedis;
  return {
    url,
    close: () => cluster.close(),
    kill: () => next().kill(),
    async restart() {
      await next().restart();
      turn += 1;
    },
  };
}

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
say('| seed | runs | repeats | deaths | stale runs | faults | violations | seconds |');
say('|---|---|---|---|---|---|---|---|');
const size: StormSize = {
  events: Number(values.events),
  records: Number(values.records),
  handlers: Number(values.handlers),
  stormMs: Number(values.seconds) * 1_000,
};
let failed = 0;
let undecided = 0;
for (let n = 0; n < Number(values.seeds); n += 1) {
  const seed = Number(values.seed) + n;
  const plan = planStorm(seed, size);
  const result = await runStorm({ redis, plan, ungated: values.ungated }).catch((error: unknown) => {
    if (error instanceof NotDecidedError) return error;
    throw error;
  });
  if (result instanceof NotDecidedError) {
    undecided += 1;
    say(`| ${seed} | not decided |`);
    process.stderr.write(`STORM_SEED=${seed}: ${result.message}\n`);
    continue;
  }
  const { violations, runs, repeats, deaths, staleRuns, faults, unclean } = result;
  const counted = Object.entries(faults).map(([kind, times]) => `${kind} ${times}`);
  const seconds = Math.round(result.tookMs / 1_000);
  say(`| ${[seed, runs, repeats, deaths, staleRuns, counted.join(', '), violations.length, seconds].join(' | ')} |`);
  if (violations.length > 0) {
    failed += 1;
    process.stderr.write(`STORM_SEED=${seed}, journal in ${result.file}\n`);
    for (const one of violations.slice(0, 20)) process.stderr.write(`  ${JSON.stringify(one)}\n`);
  }
  for (const one of unclean) process.stderr.write(`STORM_SEED=${seed}: ${one}\n`);
}
await redis.close();
process.exitCode = failed > 0 ? 1 : undecided > 0 ? 3 : 0;
