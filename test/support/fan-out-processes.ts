/** Processes of the fan-out (`fan-out-child.ts`) for a test to kill, and what their handlers wrote. */
import { useProcesses, type TestProcess } from './process.js';
import type { TestRedis } from './redis.js';

const child = new URL('./fan-out-child.ts', import.meta.url);

/** What the process does: `freeze` is the point at which it waits to be killed. */
type Plan = Readonly<Record<string, string | undefined>>;

export function useFanOutProcesses(test: TestRedis) {
  const start = useProcesses();
  const launch = (role: 'dispatch' | 'handle' | 'replay', plan: Plan = {}): TestProcess => {
    const all = { ...plan, url: test.url, prefix: test.keys.prefix, role };
    const variables = Object.entries(all).map(([name, value]) => [`FAN_OUT_${name.toUpperCase()}`, value]);
    return start(child, { env: Object.fromEntries(variables) as Plan });
  };
  /** `record sequence id` of the events that were begun or done, in order. */
  const linesOf = (list: 'seen' | 'done'): Promise<string[]> => test.redis.lrange(`${test.keys.prefix}:${list}`, 0, -1);
  return {
    launch,
    linesOf,
    /** Kills a process at the point at which it freezes. */
    launchFrozen: async (role: 'dispatch' | 'handle' | 'replay', plan: Plan & { freeze: string }): Promise<void> => {
      const frozen = launch(role, plan);
      await frozen.waitForLine(/^frozen/);
      await frozen.kill('SIGKILL');
    },
    sequencesOf: async (list: 'seen' | 'done', record: string): Promise<number[]> => {
      const words = (await linesOf(list)).map((line) => line.split(' '));
      return words.flatMap(([subject, sequence]) => (subject === record ? [Number(sequence)] : []));
    },
  };
}
