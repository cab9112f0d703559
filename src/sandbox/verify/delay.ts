/** A set of delays as percentiles. */

export interface Delays {
  /** ms; null without any delay. */
  p50: number | null;
  p99: number | null;
  max: number | null;
}

/** Uses the nearest rank: each percentile is a delay that occurred. */
export function delaysOf(delays: readonly number[]): Delays {
  const sorted = [...delays].sort((a, b) => a - b);
  const rank = (share: number): number | null => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
  return { p50: rank(0.5), p99: rank(0.99), max: rank(1) };
}
