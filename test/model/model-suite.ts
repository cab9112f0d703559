/**
 * The model of detection as a test. `MODEL_RUNS` is the number of runs per group of lists, `MODEL_SEED` selects them
 * (`random` draws a seed), and `MODEL_PATH`, which a failure prints, repeats one run.
 */
import { expect, it } from 'vitest';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import { isGate } from '../support/night.js';
import { useRedis } from '../support/redis.js';
import { findFailure, type ModelFailure } from './model.js';
import type { Sabotage } from './run.js';

const RUNS = Number(process.env['MODEL_RUNS'] ?? (isGate ? 20 : 40));
/** Fixed, so that every test run executes the same scenarios. Long runs use other seeds. */
const SEED = process.env['MODEL_SEED'] ?? '1';
const path = process.env['MODEL_PATH'];

/** Far more than any machine needs, so that a slow machine fails no test. */
const MS_PER_RUN = 10_000;

export function describeModel(lists: readonly BuiltInList[], { sabotage }: { sabotage?: Sabotage } = {}): void {
  const redis = useRedis();
  const seed = SEED === 'random' ? Math.floor(Math.random() * 0x7fff_0000) : Number(SEED);

  it(
    `model: ${RUNS} runs from seed ${seed} report what complete sweeps could see, once, in order, and nothing else`,
    { timeout: RUNS * MS_PER_RUN },
    async () => {
      const failure = await findFailure(redis, { lists, runs: RUNS, seed, path, ...(sabotage && { sabotage }) });
      expect(failure === null ? [] : failure.violations, reproduction(failure)).toEqual([]);
    },
  );
}

function reproduction(failure: ModelFailure | null): string {
  if (failure === null) return '';
  const { seed, path: at, scenario } = failure;
  return `To repeat: MODEL_SEED=${seed} MODEL_PATH=${at}\nFor test/model/regressions.ts: ${JSON.stringify(scenario)}\n`;
}
