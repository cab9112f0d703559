import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { without } from './test/copy/controls.js';
import LongestFirst from './test/support/longest-first.js';

/**
 * Which files run is decided by folder and name: fast (the folders below, but for `*.slow.test.ts`), the gate (all but
 * `*.nightly.test.ts`), and at night everything. Of some tables the gate runs only the first rows (`test/support/night.ts`).
 */
const FAST = 'config,crm,delivery/handlers,feed/{api,detect,list,store},log,ops/doctor,sandbox';
const ALL = ['test/**/*.test.ts'];
const NIGHTLY = ['test/**/*.nightly.test.ts'];
const SLOW = ['test/**/*.slow.test.ts'];

const MODES: Partial<Record<string, { include: string[]; exclude: string[] }>> = {
  fast: { include: [`test/{${FAST}}/**/*.test.ts`], exclude: [...NIGHTLY, ...SLOW] },
  gate: { include: ALL, exclude: NIGHTLY },
};

export default defineConfig(({ mode }) => {
  // At night and without a mode, every test can run: `npx vitest run test/docs/getting-started.nightly.test.ts`.
  const { include, exclude } = MODES[mode] ?? { include: ALL, exclude: [] };
  const switchedOff = process.env['COPY_WITHOUT'];
  return {
    plugins: switchedOff === undefined ? [] : [without(switchedOff)],
    test: {
      // Examples are tested with what is here, and not with what was built last.
      alias: [{ find: /^crm-changefeed$/, replacement: fileURLToPath(new URL('src/index.ts', import.meta.url)) }],
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      env: { NODE_ENV: 'test', TEST_PART: mode in MODES ? 'gate' : 'night' },
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
      // Many tests wait for processes of their own: as many workers as cores would leave a small machine idle. With four, two cores waited
      // for a third of the time.
      maxWorkers: Math.max(6, availableParallelism()),
    },
  };
});
