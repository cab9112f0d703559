/** The records of a workspace by kind: derived from the seed until they change, stored from then on. Memory grows only with changes. */
import { baseDeal, baseMemo, baseTodo } from './base-children.js';
import { baseOrganization, basePerson } from './base-contacts.js';
import { baseFurther } from './base-further.js';
import { baseActivity, baseHistory } from './base-log.js';
import type { BaseContext } from './base-context.js';
import type { FactsOf, Kind } from './facts.js';
import type { FurtherName } from './lists.js';

/** The records of one kind. */
class Table<Facts> {
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

export class Tables {
  readonly #tables: ReadonlyMap<Kind, unknown>;

  constructor(context: BaseContext, further: readonly FurtherName[]) {
    const table = <K extends Kind>(kind: K, derive: (index: number, context: BaseContext) => FactsOf[K]) =>
      [kind, new Table(context.sizes[kind] ?? 0, (index) => derive(index, context))] as const;
    this.#tables = new Map<Kind, unknown>([
      table('people', basePerson),
      table('organization', baseOrganization),
      table('memo', baseMemo),
      table('todo', baseTodo),
      table('history', baseHistory),
      table('activity', baseActivity),
      table('unlistedDeal', baseDeal),
      ...further.map((list) => table(list, (index) => baseFurther(list, index, context))),
    ]);
  }

  of<K extends Kind>(kind: K): Table<FactsOf[K]> {
    return this.#tables.get(kind) as Table<FactsOf[K]>;
  }
}
