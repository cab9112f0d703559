/** The orders in which a list can be served. Each is built when it is first used. */
import { hash32 } from './random.js';
import type { SandboxListName } from './lists.js';

/** `shuffled` is not among them: it is another order for each request. */
export const ORDER_NAMES = ['creation', 'newest-first', 'id', 'last-change'] as const;
export type OrderName = (typeof ORDER_NAMES)[number];

/** Negative when the first row comes before the second; never 0 for two different rows. */
type CompareRows = (a: number, b: number) => number;

/** The rows of a list in one order. Pages are slices of it. */
export class Order {
  readonly #compare: CompareRows;
  readonly #rows: number[];

  /** @param rows must be in order */
  constructor(rows: number[], compare: CompareRows) {
    this.#rows = rows;
    this.#compare = compare;
  }

  get length(): number {
    return this.#rows.length;
  }

  at(position: number): number | undefined {
    return this.#rows[position];
  }

  isBefore(a: number, b: number): boolean {
    return this.#compare(a, b) < 0;
  }

  slice(from: number, to: number): number[] {
    return this.#rows.slice(from, to);
  }

  /** The first position whose row does not come before this row. The row need not be in the list. */
  positionOf(row: number): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#rows[middle] ?? 0, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(row: number): boolean {
    return this.#rows[this.positionOf(row)] === row;
  }

  insert(row: number): void {
    if (!this.has(row)) this.#rows.splice(this.positionOf(row), 0, row);
  }

  /** Must be called while the row still compares as it did when it was inserted. */
  remove(row: number): void {
    if (this.has(row)) this.#rows.splice(this.positionOf(row), 1);
  }

  /** A copy that later changes do not affect. */
  frozen(): Order {
    return new Order([...this.#rows], this.#compare);
  }

  /** The same rows in an order that depends only on the seed. */
  shuffled(seed: number): Order {
    const compare: CompareRows = (a, b) => hash32(seed, a) - hash32(seed, b) || a - b;
    return new Order([...this.#rows].sort(compare), compare);
  }
}

export interface OrderKeys {
  /** Number of a list's initial records. */
  baseCount(list: SandboxListName): number;
  idOf(list: SandboxListName, index: number): string;
  /** The change timestamp of a record, in ms. */
  changedAt(list: SandboxListName, index: number): number;
}

export class Orders {
  readonly #keys: OrderKeys;
  readonly #built = new Map<string, Order>();

  constructor(lists: readonly SandboxListName[], keys: OrderKeys) {
    this.#keys = keys;
    for (const list of lists) {
      const rows = Array.from({ length: keys.baseCount(list) }, (_, index) => index);
      this.#built.set(`${list}:creation`, new Order(rows, (a, b) => a - b));
    }
  }

  get(list: SandboxListName, name: OrderName): Order {
    const built = this.#built.get(`${list}:${name}`);
    if (built !== undefined) return built;
    const compare = this.#compare(list, name);
    const made = new Order(this.get(list, 'creation').slice(0, Infinity).sort(compare), compare);
    this.#built.set(`${list}:${name}`, made);
    return made;
  }

  /** Removes a row from all orders. The caller then changes the row and puts it back, unless it was removed. */
  take(list: SandboxListName, row: number): void {
    for (const name of ORDER_NAMES) this.#built.get(`${list}:${name}`)?.remove(row);
  }

  put(list: SandboxListName, row: number): void {
    for (const name of ORDER_NAMES) this.#built.get(`${list}:${name}`)?.insert(row);
  }

  #compare(list: SandboxListName, name: OrderName): CompareRows {
    const keys = this.#keys;
    if (name === 'id') return (a, b) => (keys.idOf(list, a) < keys.idOf(list, b) ? -1 : a === b ? 0 : 1);
    if (name === 'last-change') return (a, b) => keys.changedAt(list, b) - keys.changedAt(list, a) || b - a;
    return name === 'newest-first' ? (a, b) => b - a : (a, b) => a - b;
  }
}
