/** The lists that a sandbox serves: the six of the interface, five of the vendor's public documentation, and those that are named when it is created. */
import { usage } from '../../src/kit/errors.js';
import { builtInLists, LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import { SIX_LISTS, type ServedList } from '../../src/ops/server/read-api/lists.js';

/** The name of a further list. `furtherName` makes it: a name with this type is known to be valid and free. */
export type FurtherName = string & { readonly isFurther: true };
export type SandboxListName = BuiltInList | FurtherName | CreditList;

/** Deals and leads: further lists that need not be named. */
export const DEAL = 'deal' as FurtherName;
export const LEAD = 'lead' as FurtherName;

/** The list of the record that a row of these lists is about. */
export type Credited = 'people' | 'organization' | FurtherName;
export const CREDITED = {
  people_history: { record: 'people', link: 'peopleId', object: 'person_history' },
  organization_history: { record: 'organization', link: 'organizationId', object: 'organization_history' },
  lead_history: { record: LEAD, link: 'leadId', object: 'lead_history' },
} as const satisfies Record<string, { record: Credited; link: string; object: string }>;
export type CreditList = keyof typeof CREDITED;
export const CREDIT_LISTS = Object.keys(CREDITED) as CreditList[];

export function isCreditList(list: string): list is CreditList {
  return Object.hasOwn(CREDITED, list);
}

/** The lists whose rows are only ever added. */
export function growsOnly(list: SandboxListName): list is 'history' | 'activity' | CreditList {
  return list === 'history' || list === 'activity' || isCreditList(list);
}

export function isFurther(list: SandboxListName): list is FurtherName {
  return !(LIST_NAMES as readonly string[]).includes(list) && !isCreditList(list);
}

export interface SandboxList extends ServedList {
  readonly name: SandboxListName;
}

/** The further lists of a sandbox in which these are named. */
export function furtherLists(named: readonly string[]): readonly FurtherName[] {
  return [...new Set([DEAL, LEAD, ...named.filter((name) => !isCreditList(name)).map(furtherName)])];
}

/** The six lists, then the further ones. Path, key and object of a further list follow from its name. */
export function sandboxLists(further: readonly FurtherName[]): readonly SandboxList[] {
  const added = further.map((name) => ({ name, path: `v2/${name}`, key: `${name}List`, object: name }));
  const credits = CREDIT_LISTS.map((name) => {
    const { record, object } = CREDITED[name];
    return { name, path: `v2/${record}/history`, key: `${record}HistoryList`, object };
  });
  return [...Object.values(SIX_LISTS), ...added, ...credits];
}

const TAKEN: ReadonlySet<string> = new Set([...LIST_NAMES, ...builtInLists.all.map(({ object }) => object)]);

/** @throws ChangefeedError CF_USAGE when the name is no plain word, or is taken by one of the six lists */
function furtherName(name: string): FurtherName {
  if (/^[a-z][a-z0-9_]{0,39}$/.test(name) && !TAKEN.has(name)) return name as FurtherName;
  const reason = TAKEN.has(name)
    ? `the name belongs to one of the six lists (taken: ${[...TAKEN].join(', ')})`
    : 'a name consists of lower-case letters, digits and "_", starts with a letter and has at most 40 characters';
  throw usage(`The sandbox cannot add a list "${name}": ${reason}. Choose another name, such as "deal".`);
}
