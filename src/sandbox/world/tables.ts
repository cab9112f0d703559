/** The records of one kind: derived from the seed until changed, kept from then on. Memory grows with change alone. */

export class Table<Facts> {
  readonly #derive: (index: number) => Facts;
  /** Records that differ from what the seed says; null for removed ones. */
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

  /** As the seed says, whatever has happened since. */
  base(index: number): Facts | null {
    return index >= 0 && index < this.baseCount ? this.#derive(index) : null;
  }

  isChanged(index: number): boolean {
    return this.#changed.has(index);
  }

  put(index: number, facts: Facts | null): void {
    this.#changed.set(index, facts);
  }

  /** The index of a record about to be created. Never given out twice. */
  reserve(): number {
    return this.#next++;
  }

  /** No record has an index as high as this. */
  get end(): number {
    return this.#next;
  }
}
