import type { SweepCounts } from './store.js';

export type CountedKind = Exclude<keyof SweepCounts, 'seen'>;

export function noCounts(): SweepCounts {
  return { seen: 0, unchanged: 0, baselined: 0, created: 0, edited: 0, refreshed: 0, touched: 0, ignored: 0 };
}

/** The counts after one more record was seen and judged. */
export function counted(counts: SweepCounts, kind: CountedKind): SweepCounts {
  return { ...counts, seen: counts.seen + 1, [kind]: counts[kind] + 1 };
}
