/** Waiting for Redis with an end to it. */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.js';

/** True when the work succeeds within `ms`; false when it takes longer, fails, or the signal aborts. */
export async function answersWithin(
  work: Promise<unknown>,
  ms: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<boolean> {
  const ended = new AbortController();
  let isAnswered = false;
  const answer = work.then(
    () => (isAnswered = true),
    () => false,
  );
  const timer = clock.sleep(ms, AbortSignal.any([signal, ended.signal])).catch(() => undefined);
  await Promise.race([answer, timer]);
  ended.abort();
  // After a pause of this process the timer fires before the answer that has arrived meanwhile is read.
  await setImmediate();
  await setImmediate();
  return isAnswered;
}
