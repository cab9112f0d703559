/** How each list is asked for and under which key its elements stand (section 4 of the interface). */
import { PATH_OF, type ListName } from '../events/lists.js';

export interface ListEndpoint {
  /** Path behind the base URL, without a leading slash. */
  readonly path: string;
  /** The key of the array within `data`. For history and activity the interface shows none: seen in the wild. */
  readonly key: string;
}

export const ENDPOINT_OF: Readonly<Record<ListName, ListEndpoint>> = {
  people: { path: PATH_OF.people, key: 'peopleList' },
  organization: { path: PATH_OF.organization, key: 'organizationList' },
  memo: { path: PATH_OF.memo, key: 'memoList' },
  todo: { path: PATH_OF.todo, key: 'todoList' },
  history: { path: PATH_OF.history, key: 'dealHistoryList' },
  activity: { path: PATH_OF.activity, key: 'peopleActivityList' },
};
