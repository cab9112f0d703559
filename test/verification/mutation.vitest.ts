/**
 * The tests for mutation testing: those that cover `src/feed/detect` and `src/crm` without Redis, in milliseconds each, and the sweeps that show
 * what follows from a decision.
 */
import { defineConfig } from 'vitest/config';

const SWEEPS =
  'baseline,creation,older-answers,removal,run-sweep,schema-drift,staleness,todos,tracked-schema,unconfirmed,unreadable-records';

export default defineConfig({
  test: {
    include: [
      'test/{crm,feed/detect}/**/*.test.ts',
      `test/feed/list/{${SWEEPS}}.test.ts`,
      'test/feed/todos/fire.test.ts',
    ],
    globalSetup: ['test/support/global-redis.ts'],
    testTimeout: 60_000,
    isolate: false,
  },
});
