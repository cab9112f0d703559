/** The records of one kind: derived from the seed until they change, stored from then on. Memory grows only with changes. */

export class Table<Facts> {
  readonly #derive: (index: number) => Facts;
  /** Records that differ from the initial ones; null for removed ones. */
  readonly #changed = new Map<number, Facts | null>();
  #next: number;

  constructor(
    /** Indexes below this exist from the start. */
    readonly baseCount: number,
    derive: (index: number) => Facts,
  ) {
    this.#derive = derive;
    this.#next = baseCount;
  }

  get(index: number): Facts | null {
    const changed = this.#changed.get(index);
    if (changed !== undefined) return changed;
    return index >= 0 && index < this.baseCount ? this.#derive(index) : null;
  }

  /** The initial record, whatever has changed since. */
  base(index: number): Facts | null {
    return index >= 0 && index < this.baseCount ? this.#derive(index) : null;
  }

  isChanged(index: number): boolean {
    return this.#changed.has(index);
  }

  put(index: number, facts: Facts | null): void {
    this.#changed.set(index, facts);
  }

  /** The index for a new record. Never returned twice. */
  reserve(): number {
    return this.#next++;
  }

  /** All indexes are below this. */
  get end(): number {
    return this.#next;
  }
}
