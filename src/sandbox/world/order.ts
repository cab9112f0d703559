/** The rows of a list in one order. Pages are slices of it. */

/** Negative when the first row comes before the second; never 0 for two different rows. */
export type Compare = (a: number, b: number) => number;

export class Order {
  readonly #compare: Compare;
  readonly #rows: number[];

  /** @param rows must be in order */
  constructor(rows: number[], compare: Compare) {
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
    const position = this.positionOf(row);
    if (position === this.#rows.length) this.#rows.push(row);
    else if (this.#rows[position] !== row) this.#rows.splice(position, 0, row);
  }

  /** Must be called while the row still compares as it did when it was inserted. */
  remove(row: number): void {
    const position = this.positionOf(row);
    if (this.#rows[position] === row) this.#rows.splice(position, 1);
  }

  /** A copy that later changes do not affect. */
  frozen(): Order {
    return new Order([...this.#rows], this.#compare);
  }
}
