/** In which order a list shows its records, and where it grows. Pure. */
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import type { UncheckedRecord } from '../crm/record.js';
import { walkedPages, type Sample } from './sample.js';

export type OrderedBy = 'creation' | 'change' | 'id';

export interface Neighbours {
  /** Pairs of neighbouring records that both have the value. */
  pairs: number;
  /** Share of the pairs in this direction; equal values are in both. */
  ascending: number;
  descending: number;
}

export interface ListOrder {
  neighbours: Record<OrderedBy, Neighbours>;
  /** The order that all neighbours follow, or nearly all; null when there is none. */
  order: { by: OrderedBy; direction: 'ascending' | 'descending'; share: number } | null;
  /** Where new records appear. Follows from the order, was not observed. */
  growsAt: 'the end' | 'the start' | 'any place' | 'unknown';
}

/** Stamps are set by different machines, so a few pairs may be the other way round. */
const NEARLY_ALL = 0.97;
/** Fewer pairs are in order by chance. */
const LEAST_PAIRS = 5;

export function orderOf(list: ListDescriptor, samples: readonly Sample[]): ListOrder {
  const records = walkedPages(samples).flatMap(({ page }) => page.records);
  const neighbours = {
    creation: neighboursOf(records, (record) => timeIn(record, list.createdAt)),
    change: neighboursOf(records, (record) => timeIn(record, list.modifiedAt)),
    id: neighboursOf(records, (record) => textIn(record, 'id')),
  };
  const order = bestOf(neighbours);
  return { neighbours, order, growsAt: growsAt(order) };
}

function neighboursOf(
  records: readonly UncheckedRecord[],
  valueOf: (record: UncheckedRecord) => string | number | null,
): Neighbours {
  const values = records.map(valueOf).filter((value) => value !== null);
  const pairs = values.length - 1;
  if (pairs < 1) return { pairs: 0, ascending: 0, descending: 0 };
  const share = (inOrder: (a: string | number, b: string | number) => boolean): number => {
    const count = values.filter((value, nth) => nth > 0 && inOrder(values[nth - 1] ?? value, value)).length;
    return Math.round((count / pairs) * 1_000) / 1_000;
  };
  return { pairs, ascending: share((a, b) => a <= b), descending: share((a, b) => a >= b) };
}

/** Of several orders that all pairs follow, the one by creation counts: ids and change stamps often follow it. */
function bestOf(neighbours: ListOrder['neighbours']): ListOrder['order'] {
  const candidates = (['creation', 'id', 'change'] as const).flatMap((by) =>
    (['ascending', 'descending'] as const).map((direction) => ({ by, direction, share: neighbours[by][direction] })),
  );
  const possible = candidates.filter(({ by, share }) => share >= NEARLY_ALL && neighbours[by].pairs >= LEAST_PAIRS);
  return possible.reduce<ListOrder['order']>(
    (best, one) => (best === null || one.share > best.share ? one : best),
    null,
  );
}

function growsAt(order: ListOrder['order']): ListOrder['growsAt'] {
  if (order === null) return 'unknown';
  // Ids need not follow creation: a new one may come anywhere.
  if (order.by === 'id') return 'any place';
  return order.direction === 'ascending' ? 'the end' : 'the start';
}

function timeIn(record: UncheckedRecord, fields: readonly string[]): number | null {
  for (const field of fields) {
    const time = Date.parse(textIn(record, field) ?? '');
    if (!Number.isNaN(time)) return time;
  }
  return null;
}

function textIn(record: UncheckedRecord, field: string): string | null {
  const value = record[field];
  return typeof value === 'string' ? value : null;
}
