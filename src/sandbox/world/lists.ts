/** The lists that a sandbox serves: the six of the interface, and further ones that are named when it is created. */
import { ChangefeedError } from '../../errors.js';
import { builtInLists, LIST_NAMES, type BuiltInList } from '../../crm/lists/lists.js';
import { SIX_LISTS, type ServedList } from '../../server/read-api/lists.js';

/** The name of a further list. `furtherName` makes it: a name with this type is known to be valid and free. */
export type FurtherName = string & { readonly isFurther: true };
export type SandboxListName = BuiltInList | FurtherName;

export function isFurther(list: SandboxListName): list is FurtherName {
  return !(LIST_NAMES as readonly string[]).includes(list);
}

export interface SandboxList extends ServedList {
  readonly name: SandboxListName;
}

/** The six lists, then the further ones. Path, key and object of a further list follow from its name. */
export function sandboxLists(further: readonly FurtherName[]): readonly SandboxList[] {
  const added = further.map((name) => ({ name, path: `v2/${name}`, key: `${name}List`, object: name }));
  return [...Object.values(SIX_LISTS), ...added];
}

const TAKEN: ReadonlySet<string> = new Set([...LIST_NAMES, ...builtInLists.all.map(({ object }) => object)]);

/** @throws ChangefeedError CF_USAGE when the name is no plain word, or is taken by one of the six lists */
export function furtherName(name: string): FurtherName {
  if (/^[a-z][a-z0-9_]{0,39}$/.test(name) && !TAKEN.has(name)) return name as FurtherName;
  const reason = TAKEN.has(name)
    ? `the name belongs to one of the six lists (taken: ${[...TAKEN].join(', ')})`
    : 'a name consists of lower-case letters, digits and "_", starts with a letter and has at most 40 characters';
  throw new ChangefeedError('CF_USAGE', {
    message: `The sandbox cannot add a list "${name}": ${reason}. Choose another name, such as "deal".`,
  });
}
