import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-redis.ts'],
    reporters: ['default', './test/support/closing-counts.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // Many tests wait for processes of their own: as many workers as cores would leave a small machine idle.
    maxWorkers: Math.max(3, availableParallelism() - 1),
  },
});
