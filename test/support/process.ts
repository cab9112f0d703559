/** Real processes for tests about crashes: scripts run by node, which the test may kill at any time. */
import { afterEach } from 'vitest';
import { startProcess, type SpawnOptions, type TestProcess } from './spawned.js';

export { hasTerminal, type SpawnOptions, type TestProcess } from './spawned.js';

/**
 * Call it once at the top of a `describe` or a file. Returns a function that starts `script` (an absolute path or a file
 * URL). Processes that still run after a test are killed.
 */
export function useProcesses(): (script: string | URL, options?: SpawnOptions) => TestProcess {
  const running = new Set<TestProcess>();
  afterEach(async () => {
    await Promise.all([...running].map((one) => one.kill()));
    running.clear();
  });
  return (script, options = {}) => {
    const started = startProcess(script, options);
    running.add(started);
    return started;
  };
}
