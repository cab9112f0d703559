/** What a server of the read API needs to know about a list: its path, the key of its array, and what one record is called. */
import { OBJECT_OF, PATH_OF, type ListName } from '../../events/lists.js';

export interface ServedList {
  readonly name: string;
  /** Behind the base URL: `v2/people`. */
  readonly path: string;
  /** The key of the array in `data`. */
  readonly key: string;
  /** What one record is called in event types and in the OpenAPI document. */
  readonly object: string;
}

const six = <Name extends ListName>(name: Name, key: string): ServedList & { readonly name: Name } => ({
  name,
  path: PATH_OF[name],
  key,
  object: OBJECT_OF[name],
});

/** The six lists. Section 4 names the first four keys and leaves the last two open: these are the keys of real answers. */
export const SIX_LISTS = {
  people: six('people', 'peopleList'),
  organization: six('organization', 'organizationList'),
  memo: six('memo', 'memoList'),
  todo: six('todo', 'todoList'),
  history: six('history', 'dealHistoryList'),
  activity: six('activity', 'peopleActivityList'),
} as const satisfies Readonly<Record<ListName, ServedList>>;
