/** Reads stored times. Another clock, or this one before it stepped, may have written them: one in the future is none. */

/** Clocks of two processes may differ by less. */
export const SKEW_MS = 10_000;

export function isInFuture(ms: number, nowMs: number): boolean {
  return ms > nowMs + SKEW_MS;
}

/** In ms since the epoch. Null: it is unknown, because it lies in the future or is no time. */
export function knownMs(stored: string | number | null | undefined, nowMs: number): number | null {
  const ms = typeof stored === 'number' ? stored : Date.parse(stored ?? '');
  return Number.isNaN(ms) || isInFuture(ms, nowMs) ? null : ms;
}

/** How long ago it was, in ms. Null: it is unknown, and so it was neither just now nor long ago. */
export function agoMs(stored: string | number | null | undefined, nowMs: number): number | null {
  const ms = knownMs(stored, nowMs);
  return ms === null ? null : Math.max(0, nowMs - ms);
}

/** An unknown time is not recent. */
export function isYounger(stored: string | number | null | undefined, nowMs: number, thanMs: number): boolean {
  return (agoMs(stored, nowMs) ?? Infinity) < thanMs;
}
