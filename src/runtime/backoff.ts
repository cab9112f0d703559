export interface BackoffOptions {
  /** Wait before the second attempt, in ms. */
  delayMs: number;
  /** No wait is longer than this, in ms. */
  maxDelayMs: number;
}

/**
 * The wait after the `attempt`-th failure (1, 2, 3 …): exponential, with "equal" jitter, so that half of the wait is
 * certain (a struggling server gets its rest) and half is random (clients do not come back together).
 * @param random a number in [0, 1)
 */
export function backoffMs(attempt: number, { delayMs, maxDelayMs }: BackoffOptions, random: number): number {
  const ceiling = Math.min(maxDelayMs, delayMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
