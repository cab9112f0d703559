/** The world as the seed has it, record by record, before any life. */
import { baseDeal, baseMemo, baseTodo } from './base-children.js';
import { baseOrganization, basePerson } from './base-contacts.js';
import { baseActivity, baseHistory } from './base-log.js';
import type { BaseContext } from './base-context.js';
import type { FactsOf, Kind } from './facts.js';
import { Table } from './tables.js';

export type Tables = { readonly [K in Kind]: Table<FactsOf[K]> };

export function baseTables(context: BaseContext): Tables {
  const { sizes } = context;
  return {
    people: new Table(sizes.people, (index) => basePerson(index, context)),
    organization: new Table(sizes.organization, (index) => baseOrganization(index, context)),
    memo: new Table(sizes.memo, (index) => baseMemo(index, context)),
    todo: new Table(sizes.todo, (index) => baseTodo(index, context)),
    history: new Table(sizes.history, (index) => baseHistory(index, context)),
    activity: new Table(sizes.activity, (index) => baseActivity(index, context)),
    deal: new Table(sizes.deal, (index) => baseDeal(index, context)),
  };
}
