/** The only source of time. Code that reads the time or waits takes a Clock, so that a test can control it. */
import { setImmediate } from 'node:timers/promises';
import { SKEW_MS } from './stored-time.js';
import { once, setMaxListeners } from 'node:events';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that never steps; its zero is arbitrary. Waits within a process are counted by it. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// The timers of the platform, not those of node:timers/promises: fake timers of a test must reach them.
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.round(performance.now()),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(reasonOf(signal));
        return;
      }
      const timer = setTimeout(() => {
        forget?.();
        resolve();
      }, ms);
      const abort = (): void => {
        clearTimeout(timer);
        reject(reasonOf(signal));
      };
      const forget = signal && onAbort(signal, abort);
    }),
};

/** `late` if the work takes longer than `ms` or the signal aborts first. The work is not cancelled. */
export async function withinTime<T>(
  work: Promise<T>,
  ms: number,
  { clock = systemClock, signal }: { clock?: Clock; signal?: AbortSignal } = {},
): Promise<T | 'late'> {
  const done = new AbortController();
  const waitUntilLate = async (): Promise<'late'> => {
    await clock.sleep(ms, AbortSignal.any([done.signal, ...(signal ? [signal] : [])])).catch(() => undefined);
    // After the process was suspended, the timer fires before input that arrived in the meantime is read.
    await setImmediate();
    await setImmediate();
    return 'late';
  };
  try {
    return await Promise.race([work, waitUntilLate()]);
  } finally {
    done.abort(OVER);
  }
}

export async function sleepUntilAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!isAborted(signal)) throw error;
  }
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

export function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal?.reason });
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** A function, because the compiler assumes that `signal.aborted` does not change after it was read. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** How long a step of the wall clock is reported. */
const REPORTED_MS = 600_000;

/** Notices that the wall clock was set, against the monotonic one. @returns the last step, to be asked for every few seconds: what adds up over a longer time is drift */
export function watchSteps(clock: Clock) {
  let aheadMs = clock.now() - clock.monotonic();
  let last: { byMs: number; atMs: number } | null = null;
  return (): { byMs: number; agoMs: number } | null => {
    const [beforeMs, nowMs] = [aheadMs, clock.monotonic()];
    aheadMs = clock.now() - nowMs;
    const byMs = 1_000 * Math.round((aheadMs - beforeMs) / 1_000);
    if (Math.abs(byMs) > SKEW_MS) last = { byMs, atMs: nowMs };
    if (last === null || nowMs - last.atMs > REPORTED_MS) return null;
    return { byMs: last.byMs, agoMs: nowMs - last.atMs };
  };
}

/** Ends a wait that is over. Made once: an abort without a reason makes an exception with a stack, for each request. */
export const OVER = new Error('The wait is over.');

/** Each caller stops listening when its wait is over: so many listeners are no leak. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
