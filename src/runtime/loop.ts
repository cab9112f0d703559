/** The one poll loop. It knows nothing of what it repeats: the verb is handed in. */
import { setImmediate } from 'node:timers/promises';
import { ChangefeedError, messageOf } from '../errors.js';
import { backoffMs, type BackoffOptions } from './backoff.js';
import { systemClock, type Clock } from './clock.js';
import type { Log } from './log.js';

export interface LoopOptions {
  /** Names the loop in the log. */
  name: string;
  /**
   * One turn. Answers how long to wait before the next, in ms; 0 means at once. The signal is the loop's own: a turn that
   * waits should listen to it. A turn in flight is always waited for.
   */
  run: (signal: AbortSignal) => Promise<number>;
  /** Ends the loop. */
  signal: AbortSignal;
  log: Log;
  /** Waits after failures in a row. @defaultValue from 500 ms, doubling, to 30 s */
  backoff?: BackoffOptions;
  clock?: Clock;
  random?: () => number;
}

const BACKOFF: BackoffOptions = { delayMs: 500, maxDelayMs: 30_000 };

/** Runs until the signal aborts, then resolves. A turn that fails is reported, and tried again after a growing wait. */
export async function runLoop(options: LoopOptions): Promise<void> {
  const { run, signal, clock = systemClock } = options;
  let failures = 0;
  while (!signal.aborted) {
    let waitMs: number;
    try {
      waitMs = await run(signal);
      failures = 0;
    } catch (error) {
      if (isAborted(signal)) return;
      waitMs = reportFailure(error, ++failures, options);
    }
    // A turn without any I/O would otherwise keep everything else of this process waiting.
    if (waitMs <= 0) await setImmediate();
    else if (!isAborted(signal)) await sleepUntilAborted(clock, waitMs, signal);
  }
}

async function sleepUntilAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!isAborted(signal)) throw error;
  }
}

function reportFailure(error: unknown, failures: number, options: LoopOptions): number {
  const { name, log, backoff = BACKOFF, random = Math.random } = options;
  const retryInMs = backoffMs(failures, backoff, random());
  const code = error instanceof ChangefeedError ? error.code : undefined;
  log.error(
    { loop: name, failures, retryInMs, code, error: messageOf(error) },
    'a turn failed; it will be tried again',
  );
  return retryInMs;
}

/** Asked through a function: the compiler believes that a signal seen unaborted stays so. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
