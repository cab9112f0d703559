import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.js';

/**
 * Which tests run is decided by folder and name alone, so that each file belongs to one of three parts:
 * nightly (`*.nightly.test.ts`), fast (the folders below, but for `*.slow.test.ts`), and what only the gate runs (all others).
 */
const FAST = 'api,config,crm,detect,doctor,handlers,observability,probe,sandbox,state,sweep';
const ALL = ['test/**/*.test.ts'];
const NIGHTLY = ['test/**/*.nightly.test.ts'];
const SLOW = ['test/**/*.slow.test.ts'];

const MODES: Partial<Record<string, { include: string[]; exclude: string[] }>> = {
  fast: { include: [`test/{${FAST}}/**/*.test.ts`], exclude: [...NIGHTLY, ...SLOW] },
  gate: { include: ALL, exclude: NIGHTLY },
  nightly: { include: NIGHTLY, exclude: [] },
};

export default defineConfig(({ mode }) => {
  // Without a mode every test can be named: `npx vitest run test/cli/dead.nightly.test.ts`.
  const { include, exclude } = MODES[mode] ?? { include: ALL, exclude: [] };
  return {
    test: {
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      env: { NODE_ENV: 'test' },
      globalSetup: ['test/support/global-redis.ts'],
      reporters: ['default', './test/support/closing-counts.ts'],
      // Tests wait for conditions: how long that takes is a matter of the machine. What needs longer says so in the test.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      pool: 'forks',
      // A process per file would spend half a second of computing on loading the same modules again, two minutes in all. A worker runs
      // many files instead. What a file changes for its process (environment, timers, mocks) it must put back.
      isolate: false,
      unstubEnvs: true,
      sequence: { sequencer: LongestFirst },
      // Many tests wait for processes of their own: as many workers as cores would leave a small machine idle.
      maxWorkers: Math.max(4, availableParallelism()),
    },
  };
});
