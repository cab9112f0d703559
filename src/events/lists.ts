/** The built-in lists by name, for the sandbox and the server, which serve these. The lists themselves are in `crm/lists/`. */
import { builtInLists, type BuiltInList, type ObjectName } from '../crm/lists/lists.js';

export { LIST_NAMES } from '../crm/lists/lists.js';
export type { BuiltInList as ListName } from '../crm/lists/lists.js';

/** What an element of each built-in list is called in event types: `crm.<object>.<verb>`. */
export const OBJECT_OF = byList(({ object }) => object) as Readonly<Record<BuiltInList, ObjectName>>;

/** The path of each built-in list behind the base URL. */
export const PATH_OF = byList(({ path }) => path);

function byList<T>(of: (list: (typeof builtInLists)['all'][number]) => T): Readonly<Record<BuiltInList, T>> {
  return Object.fromEntries(builtInLists.all.map((list) => [list.name, of(list)])) as Record<BuiltInList, T>;
}

export function listOfObject(object: string): BuiltInList | undefined {
  return builtInLists.byObject(object)?.name as BuiltInList | undefined;
}
