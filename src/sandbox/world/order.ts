/** A list's rows in one order, kept while the world lives: what a page is cut from. */

/** Negative when the first row stands before the second; never 0 for two different rows. */
export type Compare = (a: number, b: number) => number;

export class Order {
  readonly #compare: Compare;
  readonly #rows: number[];

  /** @param rows in order already */
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

  /** The first position whose row does not stand before this one, which need not be in the list any more. */
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

  /** To be called while the row still compares as it did when it was put in. */
  remove(row: number): void {
    const position = this.positionOf(row);
    if (this.#rows[position] === row) this.#rows.splice(position, 1);
  }

  /** The rows as they stand now, untouched by what comes. */
  frozen(): Order {
    return new Order([...this.#rows], this.#compare);
  }
}
