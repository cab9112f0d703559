/** Ends a test run with one plain line that any reader of logs understands: `123 passed, 0 failed, 1 skipped`. */
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingCounts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') counts[state] += 1;
      }
      // A file that cannot even be loaded has no tests to fail.
      if (module.children.size === 0 && module.state() === 'failed') counts.failed += 1;
    }
    const { passed, failed, skipped } = counts;
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
}
