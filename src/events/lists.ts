/** The six lists of the interface, by the names of the command line and the configuration (section 4 of the interface). */
export const LIST_NAMES = ['people', 'organization', 'memo', 'todo', 'history', 'activity'] as const;
export type ListName = (typeof LIST_NAMES)[number];

/** What an element of each list is called in event types: `crm.<object>.<verb>`. */
export const OBJECT_OF = {
  people: 'person',
  organization: 'organization',
  memo: 'memo',
  todo: 'todo',
  history: 'deal_history',
  activity: 'person_activity',
} as const satisfies Record<ListName, string>;
export type ObjectName = (typeof OBJECT_OF)[ListName];

/** The path of each list behind the base URL. */
export const PATH_OF = {
  people: 'v2/people',
  organization: 'v2/organization',
  memo: 'v2/memo',
  todo: 'v2/todo',
  history: 'v2/deal/history',
  activity: 'v2/people/activity',
} as const satisfies Record<ListName, string>;

/** Understands a list by its name (`activity`) or its path (`people/activity`, `/v2/people/activity`). */
export function parseListName(text: string): ListName | undefined {
  const wanted = text.trim().replace(/^\/?(v2\/)?/, '');
  return LIST_NAMES.find((name) => name === wanted || PATH_OF[name] === `v2/${wanted}`);
}

export function listOfObject(object: string): ListName | undefined {
  return LIST_NAMES.find((name) => OBJECT_OF[name] === object);
}
