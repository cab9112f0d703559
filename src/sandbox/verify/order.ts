/** Order within a record, and deliveries that came more than once: read off the stream alone, without the truth. */
import type { JudgedEvent } from './read.js';

export interface Order {
  /** Events whose id had come before: allowed (delivery is at least once), and counted. */
  duplicates: number;
  /** Events whose sequence is not above that of the record's event before. */
  orderViolations: number;
  /** Numbers of a record's sequence that never came, between its first and its last. */
  sequenceGaps: number;
}

/** Repeats are left out of `distinct`, and of the judgement of order: only the first delivery has a place in it. */
export function orderOf(events: readonly JudgedEvent[]): Order & { distinct: JudgedEvent[] } {
  const seen = new Set<string>();
  const distinct = events.filter(({ id }) => !seen.has(id) && seen.add(id));
  const sequences = new Map<string, number[]>();
  for (const { source = '', type, subject, data } of distinct) {
    // Derived events may carry the sequence of the change they come from.
    if (!/\.(created|updated|deleted|snapshot)$/.test(type)) continue;
    const key = `${source} ${type.split('.')[1] ?? ''} ${subject}`;
    const numbers = sequences.get(key) ?? [];
    numbers.push(data.sequence);
    sequences.set(key, numbers);
  }
  const all = [...sequences.values()];
  return {
    distinct,
    duplicates: events.length - distinct.length,
    orderViolations: sum(all.map(stepsBack)),
    sequenceGaps: sum(all.map(gaps)),
  };
}

function stepsBack(numbers: readonly number[]): number {
  return numbers.filter((number, nth) => nth > 0 && number <= (numbers[nth - 1] ?? 0)).length;
}

function gaps(numbers: readonly number[]): number {
  const most = numbers.reduce((so, number) => Math.max(so, number), -Infinity);
  const least = numbers.reduce((so, number) => Math.min(so, number), Infinity);
  return most - least + 1 - new Set(numbers).size;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((so, number) => so + number, 0);
}
