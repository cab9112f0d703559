/**
 * Many runs of the model, each from a seed: `MODEL_RUNS` says how many, `MODEL_SEED` and `MODEL_PATH` take up a failure
 * where it was reported. A failed run is made as small as it can be, and printed as a scenario.
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { Keys } from '../../src/state/keys.js';
import type { TestRedis } from '../support/redis.js';
import { wrongs } from './judge.js';
import { runScenario, type Sabotage } from './run.js';
import { scenarios, type Scenario } from './scenario.js';

let workspaces = 0;

/** What is wrong with one run; empty when nothing is. */
export async function judged(
  { redis, keys }: Pick<TestRedis, 'redis' | 'keys'>,
  scenario: Scenario,
  sabotage?: Sabotage,
): Promise<string[]> {
  const workspace = `model${++workspaces}`;
  try {
    return wrongs(await runScenario(scenario, { redis, keys, workspace, ...(sabotage && { sabotage }) }));
  } finally {
    await forget(redis, keys, workspace, scenario.list);
  }
}

export interface ModelRuns {
  lists: readonly BuiltInList[];
  runs: number;
  seed: number;
  /** Of a failure reported before: it alone is run again, and made smaller. */
  path?: string | undefined;
  /** For controls: a failure is enough, it need not be small. */
  sabotage?: Sabotage;
}

export interface ModelFailure {
  wrongs: string[];
  scenario: Scenario;
  seed: number;
  path: string;
}

/** Runs side by side: while one waits for Redis another computes. */
const SHARDS = 4;

/** The first run that went wrong, as small as it could be made; null when none did. */
export async function manyRuns(redis: TestRedis, options: ModelRuns): Promise<ModelFailure | null> {
  await loadScripts(redis.redis);
  const shards = options.path === undefined ? SHARDS : 1;
  const found: Found = { by: null, since: 0 };
  const failures = await Promise.all(
    Array.from({ length: shards }, (_, nth) =>
      oneShard(redis, { ...options, runs: Math.ceil(options.runs / shards), seed: options.seed + nth }, found),
    ),
  );
  return failures.find((failure) => failure !== null) ?? null;
}

interface Found {
  /** The seed of the shard that failed first. */
  by: number | null;
  /** When; ms. */
  since: number;
}

/** Smaller is nicer to read; whoever wants it smaller still can take it up again from its path. */
const MAKE_SMALL_MS = 120_000;

async function oneShard(
  redis: TestRedis,
  { lists, runs, seed, path, sabotage }: ModelRuns,
  found: Found,
): Promise<ModelFailure | null> {
  let run = -1;
  const property = fc.asyncProperty(scenarios(lists), async (scenario) => {
    // One failure is enough to look at: the other shards stop.
    if (found.by !== null && (found.by !== seed || Date.now() - found.since > MAKE_SMALL_MS)) return;
    run += 1;
    const wrong = await judged(redis, scenario, sabotage);
    if (wrong.length === 0) return;
    if (found.by === null) {
      Object.assign(found, { by: seed, since: Date.now() });
      const again = `MODEL_SEED=${seed} MODEL_PATH=${path ?? run}`;
      if (sabotage === undefined) process.stderr.write(`${again} failed: ${wrong.join('; ')}\n`);
    }
    throw new Error(wrong.join('\n'));
  });
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    endOnFailure: sabotage !== undefined,
    ...(path !== undefined && { path }),
  });
  const [scenario] = details.counterexample ?? [];
  if (!details.failed || scenario === undefined) return null;
  const wrong = details.errorInstance instanceof Error ? details.errorInstance.message.split('\n') : [];
  return { wrongs: wrong, scenario, seed, path: details.counterexamplePath ?? '' };
}

/** Which call of a process is its n-th must not depend on what the server knew before. */
export async function loadScripts(redis: Redis): Promise<void> {
  const folder = new URL('../../src/state/lua/', import.meta.url);
  for (const name of readdirSync(folder)) await redis.script('LOAD', await readFile(new URL(name, folder), 'utf8'));
}

async function forget(redis: Redis, keys: Keys, workspace: string, list: BuiltInList): Promise<void> {
  const ofList = [keys.digests, keys.records, keys.lease, keys.sweep, keys.walk, keys.members].map((key) =>
    key(workspace, list),
  );
  await redis.unlink(keys.log(workspace), keys.fence(workspace), ...ofList);
}
