/**
 * The tests for mutation testing of the deliveries: those of `src/delivery/{run,act,groups,receipts}` that start no process and wait for no clock.
 */
import { defineConfig } from 'vitest/config';

const FAST = 'dead-letters,failure,health,isolation,merge-changes,merge-detected,moments,once,pause,retries,skip,where';

export default defineConfig({
  test: {
    include: [`test/delivery/{${FAST}}.test.ts`, 'test/delivery/{groups,receipts}/**/*.test.ts'],
    globalSetup: ['test/support/global-redis.ts'],
    testTimeout: 20_000,
    isolate: false,
  },
});
