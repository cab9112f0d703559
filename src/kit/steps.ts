/** What is closed and opened while a process runs, such as a rule or a workspace. */
import { isAborted, sleepUntilAborted, type Clock } from './clock.js';
import { messageOf } from './errors.js';
import type { Log } from './log.js';

const RETRY_MS = 1_000;

interface StepsOptions {
  /** What a name stands for, in log lines. */
  of: string;
  signal: AbortSignal;
  log: Log;
  clock: Clock;
}

/** One after the other for each name: what is closed has ended before what replaces it is opened. A step that fails is tried again. */
export function createSteps({ of, signal, log, clock }: StepsOptions) {
  const last = new Map<string, Promise<void>>();
  const untilDone = async (name: string, step: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    await last.get(name);
    while (!isAborted(signal)) {
      try {
        await step(signal);
        return;
      } catch (error) {
        log.error({ [of]: name, error: messageOf(error) }, 'what changed was not taken over; it will be tried again');
        await sleepUntilAborted(clock, RETRY_MS, signal);
      }
    }
  };
  return {
    add(name: string, step: (signal: AbortSignal) => Promise<void>): void {
      const done = untilDone(name, step).finally(() => {
        if (last.get(name) === done) last.delete(name);
      });
      last.set(name, done);
    },
    of: async (name: string): Promise<void> => await last.get(name),
    all: (): Promise<unknown> => Promise.all(last.values()),
  };
}
