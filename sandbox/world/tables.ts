/** The records of a workspace by kind: derived from the seed until they change, stored from then on. Memory grows only with changes. */
import { baseActivity, baseHistory } from './base-log.js';
import { baseDeal, baseFurther, baseMemo, baseOrganization, basePerson, baseTodo } from './base-records.js';
import { bornAtOnce, type BaseContext } from './base-context.js';
import type { FactsOf, Kind } from './facts.js';
import { CREDIT_LISTS, type FurtherName } from './lists.js';
import { baseCredit } from './credits.js';

/** The records of one kind. */
class Table<Facts> {
  readonly #context: BaseContext;
  readonly #derive: (index: number, context: BaseContext) => Facts;
  /** Records that differ from the initial ones; null for removed ones. */
  readonly #changed = new Map<number, Facts | null>();
  /** Indexes below this exist from the start. */
  readonly #baseCount: number;
  #next: number;

  constructor(baseCount: number, context: BaseContext, derive: (index: number, context: BaseContext) => Facts) {
    this.#context = context;
    this.#derive = derive;
    this.#baseCount = baseCount;
    this.#next = baseCount;
  }

  get(index: number): Facts | null {
    const changed = this.#changed.get(index);
    if (changed !== undefined) return changed;
    return index >= 0 && index < this.#baseCount ? this.#derive(index, this.#context) : null;
  }

  put(index: number, facts: Facts | null): void {
    this.#changed.set(index, facts);
  }

  /** The index for a new record, and facts as an initial record has them. No index is returned twice. */
  newborn(at: number): { index: number; facts: Facts } {
    const index = this.#next++;
    return { index, facts: this.#derive(index, bornAtOnce(this.#context, at)) };
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
      [kind, new Table(context.sizes[kind] ?? 0, context, derive)] as const;
    this.#tables = new Map<Kind, unknown>([
      table('people', basePerson),
      table('organization', baseOrganization),
      table('memo', baseMemo),
      table('todo', baseTodo),
      table('history', baseHistory),
      table('activity', baseActivity),
      table('unlistedDeal', baseDeal),
      ...CREDIT_LISTS.map((list) => table(list, (index, from) => baseCredit(list, index, from))),
      ...further.map((list) => table(list, (index, from) => baseFurther(list, index, from))),
    ]);
  }

  of<K extends Kind>(kind: K): Table<FactsOf[K]> {
    return this.#tables.get(kind) as Table<FactsOf[K]>;
  }
}
