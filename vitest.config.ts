import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-redis.ts'],
    reporters: ['default', './test/support/closing-counts.ts'],
    // Tests wait for conditions. How long that takes is a matter of the machine, and none of what they test.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    // A process per file would spend half a second of computing on loading the same modules again, two minutes in all. A worker runs
    // many files instead. What a file changes for its process (environment, timers, mocks) it must put back.
    isolate: false,
    unstubEnvs: true,
    sequence: { sequencer: LongestFirst },
    // Many tests wait for processes of their own: as many workers as cores would leave a small machine idle.
    maxWorkers: Math.max(4, availableParallelism()),
  },
});
