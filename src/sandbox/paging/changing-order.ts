/** An order that changes from time to time, but only between two walks: a cursor names the order of the walk that it belongs to. */
import type { Behaviour } from '../faults/behaviour.js';
import type { SandboxListName } from '../world/lists.js';

type Order = Behaviour['order'];

const ORDERS = ['creation', 'newest-first', 'id'] as const;
const SEPARATOR = '~';

export class ChangingOrder {
  readonly #turns = new Map<SandboxListName, { since: number; turn: number }>();

  /** The order of a walk that begins now. */
  of(list: SandboxListName, now: number, everyMs: number): Order {
    const last = this.#turns.get(list) ?? { since: now, turn: 0 };
    const next = now - last.since >= everyMs ? { since: now, turn: last.turn + 1 } : last;
    this.#turns.set(list, next);
    return ORDERS[next.turn % ORDERS.length] ?? 'creation';
  }
}

export function withOrder(cursor: string, order: Order): string {
  return `${order}${SEPARATOR}${cursor}`;
}

/** Null for a cursor that names no order. */
export function orderIn(cursor: string): { order: Order; cursor: string } | null {
  const order = ORDERS.find((one) => cursor.startsWith(`${one}${SEPARATOR}`));
  return order === undefined ? null : { order, cursor: cursor.slice(order.length + SEPARATOR.length) };
}
