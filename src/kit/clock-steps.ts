/** Notices that the wall clock was set: against the monotonic one, which never is. */
import type { Clock } from './clock.js';
import { SKEW_MS } from './stored-time.js';

/** How long a step is reported. */
const REPORTED_MS = 600_000;

/** @returns the last step, to be asked for every few seconds: what adds up over a longer time is drift */
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
