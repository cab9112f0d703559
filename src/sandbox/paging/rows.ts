/** The rows of one request: a list in a fixed order, or shuffled for this request only. */
import type { SandboxListName } from '../world/lists.js';
import { dice } from '../world/random.js';
import type { Behaviour } from '../faults/behaviour.js';
import type { View } from './view.js';

export interface Rows {
  readonly length: number;
  slice(from: number, to: number): number[];
  at(position: number): number | undefined;
  /** Where the page after this row begins, whether or not the row still exists. */
  positionAfter(row: number): number;
  has(row: number): boolean;
  /** Null if the order is not stable, so that two rows cannot be compared. */
  readonly isBefore: ((a: number, b: number) => boolean) | null;
}

/** @param request a number that is different for every request */
export function rowsOf(view: View, list: SandboxListName, order: Behaviour['order'], request: number): Rows {
  if (order === 'shuffled') return shuffled(view, list, request);
  const rows = view.order(list, order);
  return {
    length: rows.length,
    slice: (from, to) => rows.slice(from, to),
    at: (position) => rows.at(position),
    positionAfter: (row) => rows.positionOf(row) + (rows.has(row) ? 1 : 0),
    has: (row) => rows.has(row),
    isBefore: order === 'last-change' ? null : (a, b) => rows.isBefore(a, b),
  };
}

function shuffled(view: View, list: SandboxListName, request: number): Rows {
  const rows = view.order(list, 'creation').slice(0, Infinity);
  const roll = dice(request, 0x5bff);
  for (let last = rows.length - 1; last > 0; last--) {
    const other = roll.below(last + 1);
    [rows[last], rows[other]] = [rows[other] ?? 0, rows[last] ?? 0];
  }
  return {
    length: rows.length,
    slice: (from, to) => rows.slice(from, to),
    at: (position) => rows[position],
    positionAfter: (row) => rows.indexOf(row) + 1,
    has: (row) => rows.includes(row),
    isBefore: null,
  };
}
