/** The tables of a workspace as the seed has them, before any change. */
import { baseDeal, baseMemo, baseTodo } from './base-children.js';
import { baseOrganization, basePerson } from './base-contacts.js';
import { baseFurther } from './base-further.js';
import { baseActivity, baseHistory } from './base-log.js';
import type { BaseContext } from './base-context.js';
import type { FactsOf, Kind } from './facts.js';
import type { FurtherName } from './lists.js';
import { Table } from './tables.js';

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
