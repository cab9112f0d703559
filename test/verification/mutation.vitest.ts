/** The tests for mutation testing: those that cover `src/detect` and `src/crm` without Redis, in milliseconds each. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/{crm,detect}/**/*.test.ts'], isolate: false },
});
