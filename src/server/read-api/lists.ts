/** What a server of the read API needs to know about a list: its path, the key of its array, and what one record is called. */
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import { builtInLists, type BuiltInList } from '../../crm/lists/lists.js';

export interface ServedList {
  readonly name: string;
  /** Behind the base URL: `v2/people`. */
  readonly path: string;
  /** The key of the array in `data`. */
  readonly key: string;
  /** What one record is called in event types and in the OpenAPI document. */
  readonly object: string;
}

/** A list as a server shows it. One whose key is not known is served under its object's name. */
export function servedList<Name extends string>({
  name,
  path,
  key,
  object,
}: ListDescriptor & { readonly name: Name }): ServedList & { readonly name: Name } {
  return { name, path, key: key ?? `${object}List`, object };
}

/** The six lists. Section 4 names the first four keys and leaves the last two open: these are the keys of real answers. */
export const SIX_LISTS = Object.fromEntries(builtInLists.all.map((list) => [list.name, servedList(list)])) as {
  readonly [Name in BuiltInList]: ServedList & { readonly name: Name };
};
