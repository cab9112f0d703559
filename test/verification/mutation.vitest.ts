/** The tests that hold `src/detect` by themselves: pure, no Redis, milliseconds each. What mutation testing runs. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/unit/detect/**/*.test.ts', 'test/property/detect*.test.ts'], isolate: false },
});
