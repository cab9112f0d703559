/** Collects the writes of a mutation before any of them is applied. */
import type { FactsOf, Kind } from './facts.js';
import type { Tables } from './tables.js';

export interface Write<K extends Kind = Kind> {
  readonly kind: K;
  readonly index: number;
  /** Null removes the record. */
  readonly facts: FactsOf[K] | null;
}

export class Draft {
  readonly #tables: Tables;
  readonly #writes = new Map<string, Write>();

  constructor(
    tables: Tables,
    /** The time of the mutation, in ms. */
    readonly at: number,
  ) {
    this.#tables = tables;
  }

  /** The facts with the writes collected so far. */
  get<K extends Kind>(kind: K, index: number): FactsOf[K] | null {
    const write = this.#writes.get(`${kind}:${index}`) as Write<K> | undefined;
    return write === undefined ? this.#tables.of(kind).get(index) : write.facts;
  }

  put<K extends Kind>(kind: K, index: number, facts: FactsOf[K] | null): void {
    this.#writes.set(`${kind}:${index}`, { kind, index, facts });
  }

  /** Writes the result of `edit`; does nothing if the record does not exist. */
  edit<K extends Kind>(kind: K, index: number, edit: (facts: FactsOf[K]) => Partial<FactsOf[K]>): void {
    const facts = this.get(kind, index);
    if (facts !== null) this.put(kind, index, { ...facts, ...edit(facts) });
  }

  /** A new record. What `facts` leaves open is drawn as for an initial one. */
  create<K extends Kind>(kind: K, facts: Partial<FactsOf[K]>): number {
    const { index, facts: drawn } = this.#tables.of(kind).newborn(this.at);
    this.put(kind, index, { ...drawn, ...facts });
    return index;
  }

  get writes(): readonly Write[] {
    return [...this.#writes.values()];
  }
}
