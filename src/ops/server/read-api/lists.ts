/** The lists as a server of the read API shows them, from the descriptors in `crm/lists/`. */
import type { ListDescriptor } from '../../../crm/lists/descriptor.js';
import { builtInLists, type BuiltInList } from '../../../crm/lists/lists.js';

export interface ServedList {
  readonly name: string;
  readonly path: string;
  readonly object: string;
  /** The key of the array in `data`: a server has to choose one. */
  readonly key: string;
}

/** A list whose key is not known is served under its object's name. */
export function servedList<Name extends string>({
  name,
  path,
  key,
  object,
}: ListDescriptor & { readonly name: Name }): ServedList & { readonly name: Name } {
  return { name, path, key: key ?? `${object}List`, object };
}

/** Section 4 names the first four keys and leaves the last two open: these are the keys of real answers. */
export const SIX_LISTS = Object.fromEntries(builtInLists.all.map((list) => [list.name, servedList(list)])) as {
  readonly [Name in BuiltInList]: ServedList & { readonly name: Name };
};
