/** The one loop of the project: waits between turns, retries failures and detects turns that hang. */
import { setImmediate } from 'node:timers/promises';
import { ChangefeedError, messageOf } from './errors.js';
import { backoffMs, type BackoffOptions } from './backoff.js';
import { isAborted, isoTime, sleepUntilAborted, systemClock, type Clock, onAbort, OVER } from './clock.js';
import { formatDuration } from './duration.js';
import { Episode } from './episode.js';
import type { Log } from './log.js';

export interface LoopOptions {
  name: string;
  /**
   * One turn. Returns the wait before the next one in ms. The signal aborts when the loop ends or the turn is stalled.
   * A long turn calls `alive` whenever it makes progress.
   */
  run: (signal: AbortSignal, alive: () => void) => Promise<number>;
  signal: AbortSignal;
  log: Log;
  /** The waits after consecutive failures. @defaultValue from 500 ms, doubling, to 30 s */
  backoff?: BackoffOptions;
  /** A condition for every turn: awaited before each, not counted by the watchdog. Resolves when the signal aborts. */
  ready?: (signal: AbortSignal) => Promise<void>;
  /**
   * A turn without a sign of life for this time (ms) is stalled: its signal aborts, and the next starts even if it does
   * not end, so turns must be safe side by side. Null: turns wait for events that may never come. @defaultValue 45000
   */
  stallMs?: number | null;
  loops?: LoopBoard;
  clock?: Clock;
  random?: () => number;
}

/** A loop that makes no progress: its turn gives no sign of life, or its turns fail. */
export interface LoopTrouble {
  /** ISO 8601: the last sign of life, or the first of the failures in a row. */
  since: string;
  /** The last sign of life of a stalled turn, by the monotonic clock. */
  aliveMs?: number;
  /** The last failed turn; null when a turn is stalled. */
  failed: { at: string; error: string } | null;
}

/** The loops of a process that make no progress, by name. */
export type LoopBoard = Map<string, LoopTrouble>;

const FAILED = 'a turn failed; it will be tried again';
const RECOVERED = 'recovered: a turn succeeded again';

const BACKOFF: BackoffOptions = { delayMs: 500, maxDelayMs: 30_000 };
const STALL_MS = 45_000;
/** `ready` takes longer than this only if it has to wait. */
const READY_AT_ONCE_MS = 500;
/** How long a stalled turn may take to end after its signal aborted. */
const STALL_GRACE_MS = 10_000;

/** Consecutive failures with the same message are logged once when they begin and once when they end. */
export async function runLoop(options: LoopOptions): Promise<void> {
  const { name, loops, signal, log, backoff = BACKOFF, clock = systemClock, random = Math.random } = options;
  const failing = new Episode({ begins: FAILED, ends: RECOVERED, facts: { loop: name }, log, clock });
  let last = '';
  try {
    while (!isAborted(signal)) {
      let waitMs: number;
      try {
        await options.ready?.(signal);
        if (isAborted(signal)) return;
        waitMs = await runTurn(options);
        failing.over({ error: last });
        loops?.delete(name);
      } catch (error) {
        if (isAborted(signal)) return;
        last = messageOf(error);
        const failures = failing.failures + 1;
        waitMs = backoffMs(failures, backoff, random());
        const code = error instanceof ChangefeedError ? error.code : undefined;
        const facts = { failures, retryInMs: waitMs, code, error: last };
        if (!failing.failed(facts, { kind: last })) log.debug({ loop: name, ...facts }, FAILED);
        if (code !== 'CF_LOOP_STALLED') loops?.set(name, troubleOf(failing.sinceMs, last, clock));
      }
      // Turns without I/O must not block the event loop of the process.
      if (waitMs <= 0) await setImmediate();
      else await sleepUntilAborted(clock, waitMs, signal);
    }
  } finally {
    // A loop that ends while it fails, such as one of a removed subscription, is no problem any more.
    loops?.delete(name);
  }
}

const LONGEST_ERROR = 500;

function troubleOf(sinceMs: number, error: string, clock: Clock): LoopTrouble {
  return { since: isoTime(sinceMs), failed: { at: isoTime(clock.now()), error: error.slice(0, LONGEST_ERROR) } };
}

/** Signs of life are timed by the monotonic clock of the process: a clock that steps is no stall. */
async function runTurn({ name, run, ready, signal, loops, stallMs = STALL_MS }: LoopOptions): Promise<number> {
  const turn = new AbortController();
  const over = new AbortController();
  const stop = (): void => turn.abort(signal.reason);
  const forget = onAbort(signal, stop);
  const life = { atMs: systemClock.monotonic() };
  const work = run(turn.signal, () => (life.atMs = systemClock.monotonic()));
  try {
    if (stallMs === null) return await work;
    const first = await Promise.race([work, untilStalled(life, { stallMs, ready, signal: over.signal })]);
    // A loop that is being stopped waits for its turn; the caller that stops it sets the limit.
    if (first !== 'stalled' || isAborted(signal)) return await work;
    const error = stallError(name, stallMs);
    const since = isoTime(systemClock.now() - (systemClock.monotonic() - life.atMs));
    loops?.set(name, { since, aliveMs: life.atMs, failed: null });
    turn.abort(error);
    await Promise.race([work.catch(() => undefined), sleepUntilAborted(systemClock, STALL_GRACE_MS, over.signal)]);
    throw error;
  } finally {
    over.abort(OVER);
    forget();
  }
}

interface Watchdog {
  stallMs: number;
  ready: LoopOptions['ready'];
  signal: AbortSignal;
}

async function untilStalled(life: { atMs: number }, { stallMs, ready, signal }: Watchdog): Promise<'stalled'> {
  while (!isAborted(signal)) {
    const leftMs = life.atMs + stallMs - systemClock.monotonic();
    if (leftMs > 0) {
      await sleepUntilAborted(systemClock, leftMs, signal);
      continue;
    }
    const askedAtMs = systemClock.monotonic();
    await ready?.(signal);
    if (systemClock.monotonic() - askedAtMs < READY_AT_ONCE_MS) break;
    // The condition of every turn did not hold, so the turn was waiting for it and was not stalled.
    life.atMs = systemClock.monotonic();
  }
  return 'stalled';
}

function stallError(loop: string, stallMs: number): ChangefeedError {
  return new ChangefeedError('CF_LOOP_STALLED', {
    loop,
    message: `The loop "${loop}" gave no sign of life for ${formatDuration(stallMs)}; its next turn is started.`,
  });
}
