/** One deadline for a whole try (connecting, waiting and reading), so that an answer that arrives byte by byte ends too. */
import { systemClock } from '../runtime/clock.js';
import { onAbort } from '../runtime/on-abort.js';

export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

const FINISHED = new Error('finished');

/**
 * Runs `work` with a signal that aborts when `outer` does or after `timeoutMs`, whichever comes first.
 * Uses real time even when a test stops the clock, because sockets use real time.
 */
export async function withDeadline<T>(
  { timeoutMs, outer }: { timeoutMs: number; outer: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const inner = new AbortController();
  const done = new AbortController();
  // Not AbortSignal.any: a long-lived outer signal would collect one dependent for every page ever fetched.
  const forward = (): void => inner.abort(outer?.reason);
  outer?.throwIfAborted();
  const forget = outer && onAbort(outer, forward);
  systemClock.sleep(timeoutMs, done.signal).then(
    () => inner.abort(new DeadlinePassed(`nothing complete within ${timeoutMs} ms`)),
    () => undefined,
  );
  try {
    return await work(inner.signal);
  } catch (error) {
    // After an abort by the caller, the error is the caller's own reason and not what the aborted work threw.
    outer?.throwIfAborted();
    throw error;
  } finally {
    done.abort(FINISHED);
    forget?.();
  }
}
