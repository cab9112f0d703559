/** The tests that hold `src/detect` and `src/crm` by themselves: pure, no Redis, milliseconds each. What mutation testing runs. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/{crm,detect}/**/*.test.ts'], isolate: false },
});
