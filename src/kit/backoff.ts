export interface BackoffOptions {
  /** The wait before the second attempt, ms. */
  delayMs: number;
  maxDelayMs: number;
}

/** Half is fixed, so that a server gets a pause; half is `random` in [0, 1), so that clients do not return at once. */
export function backoffMs(attempt: number, { delayMs, maxDelayMs }: BackoffOptions, random: number): number {
  const ceiling = Math.min(maxDelayMs, delayMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}

/** A header `Retry-After` in ms from now: seconds, or an HTTP date; null if it is neither. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const value = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  // Date.parse accepts almost any text ("-5", "8.1") as a date; an HTTP date has a time of day.
  const date = /\d\d:\d\d:\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
