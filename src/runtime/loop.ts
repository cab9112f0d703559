/** The one poll loop. It knows nothing of what it repeats: the verb is handed in. */
import { setImmediate } from 'node:timers/promises';
import { ChangefeedError, messageOf } from '../errors.js';
import { backoffMs, type BackoffOptions } from './backoff.js';
import { isoTime, systemClock, type Clock } from './clock.js';
import { formatDuration } from './duration.js';
import type { Log } from './log.js';

export interface LoopOptions {
  /** Names the loop in the log. */
  name: string;
  /**
   * One turn. Answers how long to wait before the next, in ms; 0 means at once. The signal aborts when the loop ends or the
   * turn is taken for stalled; a turn that waits should listen to it. A long turn calls `alive` whenever it makes progress.
   */
  run: (signal: AbortSignal, alive: () => void) => Promise<number>;
  /** Ends the loop. */
  signal: AbortSignal;
  log: Log;
  /** Waits after failures in a row. @defaultValue from 500 ms, doubling, to 30 s */
  backoff?: BackoffOptions;
  /** What every turn needs: awaited before each, and not counted by the watchdog. Resolves when the signal aborts. */
  ready?: (signal: AbortSignal) => Promise<void>;
  /**
   * The watchdog: a turn without a sign of life for this long is stalled. It is reported, its signal aborts, and the next turn
   * starts, also when the stalled one never ends. So a turn must be safe beside an earlier one. In ms; null for a loop whose turns
   * wait for something that may never happen. @defaultValue 45000
   */
  stallMs?: number | null;
  /** Where stalled loops are shown. */
  loops?: LoopBoard;
  clock?: Clock;
  random?: () => number;
}

/** The loops of a process that have stalled: name → since when, ISO 8601. */
export type LoopBoard = Map<string, string>;

const BACKOFF: BackoffOptions = { delayMs: 500, maxDelayMs: 30_000 };
const STALL_MS = 45_000;
/** Longer than it takes to find that nothing has to be waited for. */
const A_MOMENT_MS = 500;
/** How long a stalled turn may take to end once its signal has aborted. */
const STALL_GRACE_MS = 10_000;

/** Failures in a row. */
interface Failing {
  failures: number;
  sinceMs: number;
  /** The last one, as it is logged. */
  error: string;
}

/**
 * Runs until the signal aborts, then resolves. A turn that fails is tried again after a growing wait. The same failure is
 * logged when it begins and when it is over; in between at the debug level.
 */
export async function runLoop(options: LoopOptions): Promise<void> {
  const { name, loops, signal, clock = systemClock } = options;
  let failing: Failing | undefined;
  while (!signal.aborted) {
    let waitMs: number;
    try {
      await options.ready?.(signal);
      if (isAborted(signal)) return;
      waitMs = await runTurn(options);
      if (failing !== undefined) reportRecovery(failing, options);
      failing = undefined;
      loops?.delete(name);
    } catch (error) {
      if (isAborted(signal)) return;
      const { failures, sinceMs } = failing ?? { failures: 0, sinceMs: clock.now() };
      const before = failing?.error;
      failing = { failures: failures + 1, sinceMs, error: messageOf(error) };
      waitMs = reportFailure(error, { ...failing, isNew: failing.error !== before }, options);
    }
    // A turn without any I/O would otherwise keep everything else of this process waiting.
    if (waitMs <= 0) await setImmediate();
    else if (!isAborted(signal)) await sleepUntilAborted(clock, waitMs, signal);
  }
}

/**
 * The watchdog reads the system's clock: a test that holds its own clock does not hold the process.
 * @throws what the turn throws; ChangefeedError CF_LOOP_STALLED when it gives no sign of life
 */
async function runTurn({ name, run, ready, signal, loops, stallMs = STALL_MS }: LoopOptions): Promise<number> {
  const turn = new AbortController();
  const over = new AbortController();
  const stop = (): void => turn.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  let aliveAt = systemClock.now();
  const stalled = async (): Promise<'stalled'> => {
    if (stallMs === null) return await new Promise(() => undefined);
    for (;;) {
      const leftMs = aliveAt + stallMs - systemClock.now();
      if (leftMs > 0) {
        await systemClock.sleep(leftMs, over.signal);
        continue;
      }
      const askedAt = systemClock.now();
      await ready?.(over.signal);
      if (systemClock.now() - askedAt < A_MOMENT_MS) return 'stalled';
      // The turn waited for what it needs, and was no more stalled than the others.
      aliveAt = systemClock.now();
    }
  };
  const work = run(turn.signal, () => (aliveAt = systemClock.now()));
  const watch = stalled();
  watch.catch(() => undefined);
  try {
    const first = await Promise.race([work, watch]);
    // A loop that is being stopped waits for its turn: whoever stops it sets the limit.
    if (first !== 'stalled' || isAborted(signal)) return await work;
    const error = stallError(name, stallMs ?? 0);
    loops?.set(name, isoTime(aliveAt));
    turn.abort(error);
    await Promise.race([work.catch(() => undefined), sleepUntilAborted(systemClock, STALL_GRACE_MS, over.signal)]);
    throw error;
  } finally {
    over.abort();
    signal.removeEventListener('abort', stop);
    // The outcome of a turn that was given up is of no interest.
    work.catch(() => undefined);
  }
}

function stallError(loop: string, stallMs: number): ChangefeedError {
  return new ChangefeedError('CF_LOOP_STALLED', {
    loop,
    message: `The loop "${loop}" has stood still for ${formatDuration(stallMs)}; it is started again.`,
  });
}

async function sleepUntilAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!isAborted(signal)) throw error;
  }
}

function reportFailure(error: unknown, failing: Failing & { isNew: boolean }, options: LoopOptions): number {
  const { name, log, backoff = BACKOFF, random = Math.random } = options;
  const { failures, isNew } = failing;
  const retryInMs = backoffMs(failures, backoff, random());
  const code = error instanceof ChangefeedError ? error.code : undefined;
  const facts = { loop: name, failures, retryInMs, code, error: failing.error };
  log[isNew ? 'error' : 'debug'](facts, 'a turn failed; it will be tried again');
  return retryInMs;
}

function reportRecovery({ failures, sinceMs, error }: Failing, { name, log, clock = systemClock }: LoopOptions): void {
  log.info({ loop: name, failures, failedMs: clock.now() - sinceMs, error }, 'recovered: a turn succeeded again');
}

/** Asked through a function: the compiler believes that a signal seen unaborted stays so. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
