import type { SweepCounts } from '../store/sweep-state.js';

export type CountedKind = Exclude<keyof SweepCounts, 'seen' | 'deleted' | 'missing'>;

export function noCounts(): SweepCounts {
  return {
    seen: 0,
    unchanged: 0,
    baselined: 0,
    created: 0,
    edited: 0,
    refreshed: 0,
    touched: 0,
    ignored: 0,
    held: 0,
    deleted: 0,
    missing: 0,
  };
}

/** The list is read again from its first page. What was reported so far stays counted. */
export function countsOfNextWalk({ created, edited, refreshed }: SweepCounts): SweepCounts {
  return { ...noCounts(), created, edited, refreshed };
}

export function counted(counts: SweepCounts, kind: CountedKind): SweepCounts {
  return { ...counts, seen: counts.seen + 1, [kind]: counts[kind] + 1 };
}

/** A record seen before in this sweep counts again only when it changed since. */
export function countedAgain(counts: SweepCounts, kind: CountedKind): SweepCounts {
  const changes: readonly CountedKind[] = ['created', 'edited', 'refreshed'];
  return changes.includes(kind) ? { ...counts, [kind]: counts[kind] + 1 } : counts;
}

export function countedOnce(counts: Readonly<Record<string, number>>, name: string): Readonly<Record<string, number>> {
  // A field may have a name that every object of the language knows.
  return { ...counts, [name]: (Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0) + 1 };
}
