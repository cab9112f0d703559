/**
 * The model of detection as a test. `MODEL_RUNS` (for each group of lists) and `MODEL_SEED` say how many runs and which;
 * `MODEL_PATH`, as a failure prints it, takes up that one run. `MODEL_SEED=random` draws a seed.
 */
import { expect, it } from 'vitest';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import { useRedis } from '../support/redis.js';
import { manyRuns, type ModelFailure } from './model.js';
import type { Sabotage } from './run.js';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 700);
/** The same runs in every test of a release: what a new seed would find is for the long runs to find. */
const SEED = process.env['MODEL_SEED'] ?? '1';
const path = process.env['MODEL_PATH'];

/** Far longer than any machine needs, so that no machine's pace fails a test. */
const MS_PER_RUN = 10_000;

/** With `sabotage`, options of a sweep that are not the default ones. */
export function modelOf(lists: readonly BuiltInList[], { sabotage }: { sabotage?: Sabotage } = {}): void {
  const redis = useRedis();
  const seed = SEED === 'random' ? Math.floor(Math.random() * 0x7fff_0000) : Number(SEED);

  it(
    `in ${RUNS} runs from seed ${seed}, tells all that complete sweeps could see, once, in order, and nothing else`,
    { timeout: RUNS * MS_PER_RUN },
    async () => {
      const failure = await manyRuns(redis, { lists, runs: RUNS, seed, path, ...(sabotage && { sabotage }) });
      expect(failure === null ? [] : failure.wrongs, said(failure)).toEqual([]);
    },
  );
}

function said(failure: ModelFailure | null): string {
  if (failure === null) return '';
  const { seed, path: at, scenario } = failure;
  return `Again: MODEL_SEED=${seed} MODEL_PATH=${at}\nFor test/model/regressions.ts: ${JSON.stringify(scenario)}\n`;
}
