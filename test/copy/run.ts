/** Runs histories, several at once; a history that fails is shrunk. */
import { randomBytes } from 'node:crypto';
import { quoted } from '../support/mirror.js';
import { takeAct } from './acts.js';
import { historyOf, type Act, type History } from './history.js';
import { endFaults, wrongIn } from './oracle.js';
import { World, type Lane } from './world.js';

export async function violationsOf(history: History, lane: Lane): Promise<string[]> {
  const world = new World(history, lane, `copy_${randomBytes(6).toString('hex')}`);
  const wrong = await live(world, history).catch(failureOf);
  // A feed that does not stop is a failure of its history.
  const unclean = await world.end().then(() => [], failureOf);
  await world.tables?.query(`DROP SCHEMA IF EXISTS ${quoted(world.schema)} CASCADE`);
  return [...wrong, ...unclean];
}

async function live(world: World, history: History): Promise<string[]> {
  await world.begin();
  for (const act of history.acts) await takeAct(world, act);
  await endFaults(world);
  return await wrongIn(world);
}

const failureOf = (error: unknown): string[] => [
  error instanceof Error ? (error.stack ?? error.message) : String(error),
];

export interface CopyFailure {
  seed: number;
  violations: readonly string[];
  history: History;
}

/** The first failure of `runs` histories, from the seed on. @param lanes as many histories run at once */
export async function findFailure(
  lanes: readonly Lane[],
  { runs, seed }: { runs: number; seed: number },
): Promise<CopyFailure | null> {
  let [next, failure] = [0, null as CopyFailure | null];
  const work = async (lane: Lane): Promise<void> => {
    while (failure === null && next < runs) {
      const own = seed + next++;
      const history = historyOf(own);
      const violations = await violationsOf(history, lane);
      if (violations.length > 0) failure ??= { seed: own, violations, history };
    }
  };
  await Promise.all(lanes.map(work));
  return failure;
}

const SHRINK_LIMIT_MS = 120_000;

/** Without the acts that it does not need, as far as there is time. */
export async function shrink(failure: CopyFailure, lane: Lane): Promise<CopyFailure> {
  const until = performance.now() + SHRINK_LIMIT_MS;
  let shortest = failure;
  for (let size = Math.ceil(failure.history.acts.length / 2); size >= 1;) {
    const smaller = await withoutSome(shortest, { size, until }, lane);
    if (smaller === null) size = size === 1 ? 0 : Math.ceil(size / 2);
    else shortest = smaller;
    if (size === 0) break;
  }
  return shortest;
}

async function withoutSome(
  { seed, violations: before, history }: CopyFailure,
  { size, until }: { size: number; until: number },
  lane: Lane,
): Promise<CopyFailure | null> {
  const kinds = new Set(before.map(kindOf));
  for (let at = 0; at < history.acts.length && performance.now() < until; at += size) {
    const acts: Act[] = history.acts.filter((_, index) => index < at || index >= at + size);
    const violations = await violationsOf({ ...history, acts }, lane);
    if (violations.some((one) => kinds.has(kindOf(one)))) return { seed, violations, history: { ...history, acts } };
  }
  return null;
}

/** Another failure that a shorter history has is not the one that is looked for. */
function kindOf(violation: string): string {
  return violation.split('\n', 1)[0]!.replaceAll(/\d[\da-f]*|\(.*?\)/gu, '#');
}
