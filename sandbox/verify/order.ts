/** Order per record and repeated deliveries. Both follow from the stream of events alone, without the journal. */
import { epochOfSequence } from '../../src/events/envelope.js';
import type { JudgedEvent } from './read.js';

export interface Order {
  /** Events with an id that came before. Allowed, because delivery is at least once. */
  duplicates: number;
  /** Events whose sequence is not higher than that of the record's previous event. */
  orderViolations: number;
  /** Numbers missing from a record's sequence between its first and its last of each epoch. */
  sequenceGaps: number;
}

/** Only the first delivery of an event is in `distinct` and counts for the order. */
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
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  // The step to another epoch is no gap: what was given out before is not known.
  return sum(
    sorted.slice(1).map((number, nth) => {
      const before = sorted[nth] ?? number;
      return epochOfSequence(number) === epochOfSequence(before) ? number - before - 1 : 0;
    }),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((so, number) => so + number, 0);
}
