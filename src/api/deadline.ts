/** One deadline over a whole try: connecting, waiting and reading together, so that a dripping answer ends too. */
import { systemClock } from '../runtime/clock.js';

export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

const FINISHED = new Error('finished');

/**
 * Runs `work` with a signal that aborts when `outer` does or after `timeoutMs`, whichever comes first.
 * Real time even where a test holds the clock: a socket does not know of held clocks.
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
  outer?.addEventListener('abort', forward, { once: true });
  systemClock.sleep(timeoutMs, done.signal).then(
    () => inner.abort(new DeadlinePassed(`nothing complete within ${timeoutMs} ms`)),
    () => undefined,
  );
  try {
    return await work(inner.signal);
  } catch (error) {
    // Whatever the work made of being aborted: the caller gets back the reason they gave.
    outer?.throwIfAborted();
    throw error;
  } finally {
    done.abort(FINISHED);
    outer?.removeEventListener('abort', forward);
  }
}
