/**
 * Many random runs of the model. `MODEL_RUNS` is their number; `MODEL_SEED` and `MODEL_PATH` repeat a reported failure. A
 * failed run is shrunk and printed as a scenario.
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { Keys } from '../../src/redis/keys.js';
import type { TestRedis } from '../support/redis.js';
import { violations } from './judge.js';
import { runScenario, type Sabotage } from './run.js';
import { scenarios, type Scenario } from './scenario.js';

let workspaces = 0;

export async function violationsOf(
  { redis, keys }: Pick<TestRedis, 'redis' | 'keys'>,
  scenario: Scenario,
  sabotage?: Sabotage,
): Promise<string[]> {
  const workspace = `model${++workspaces}`;
  try {
    return violations(await runScenario(scenario, { redis, keys, workspace, ...(sabotage && { sabotage }) }));
  } finally {
    await deleteWorkspace(redis, keys, workspace, scenario.list);
  }
}

export interface ModelRuns {
  lists: readonly BuiltInList[];
  runs: number;
  seed: number;
  path?: string | undefined;
  /** For controls: the failure is not shrunk. */
  sabotage?: Sabotage;
}

export interface ModelFailure {
  violations: string[];
  scenario: Scenario;
  seed: number;
  path: string;
}

/** Concurrent runs: while one waits for Redis, another computes. */
export const SHARDS = 4;

export async function findFailure(redis: TestRedis, options: ModelRuns): Promise<ModelFailure | null> {
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
  by: number | null;
  since: number;
}

/** Shrinking stops after this time. It can be continued from the printed path. */
const SHRINK_LIMIT_MS = 120_000;

async function oneShard(
  redis: TestRedis,
  { lists, runs, seed, path, sabotage }: ModelRuns,
  found: Found,
): Promise<ModelFailure | null> {
  let run = -1;
  const property = fc.asyncProperty(scenarios(lists), async (scenario) => {
    // One failure is enough: the other shards stop.
    if (found.by !== null && (found.by !== seed || Date.now() - found.since > SHRINK_LIMIT_MS)) return;
    run += 1;
    const wrong = await violationsOf(redis, scenario, sabotage);
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
  return { violations: wrong, scenario, seed, path: details.counterexamplePath ?? '' };
}

/** Loads all scripts: otherwise the numbers of a process's calls would depend on what Redis has cached. */
export async function loadScripts(redis: Redis): Promise<void> {
  const folder = new URL('../../src/', import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.lua'));
  for (const name of names) await redis.script('LOAD', await readFile(new URL(name, folder), 'utf8'));
}

async function deleteWorkspace(redis: Redis, keys: Keys, workspace: string, list: BuiltInList): Promise<void> {
  const ofList = [keys.records, keys.lease, keys.sweep, keys.members, keys.pages, keys.missing];
  const ofWalk = [keys.unconfirmed, keys.created, keys.walkCursors, keys.walkMembers, keys.walkPages];
  const stored = [...ofList, ...ofWalk, keys.aimed].map((key) => key(workspace, list));
  await redis.unlink(keys.log(workspace), ...stored);
}
