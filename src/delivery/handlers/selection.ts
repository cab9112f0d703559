/** Checks a selection against the lists of a configuration: one that nothing can match would be silent. */
import { readyMadeLists, type Lists } from '../../crm/lists/lists.js';
import { listsForWord } from '../../crm/references.js';
import { objectOf } from '../../events/envelope.js';
import { anEventType, meantType, selectsType } from '../../events/event-pattern-schema.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { meantList } from '../../crm/lists/list-name.js';
import type { ConfigProblem, Path } from '../../kit/schema/problem.js';
import type { Subscription } from './handler.js';

export function selectionProblems(
  { name, handler, on, unchanged, lists: names = [], namedLists = [], include = {} }: Subscription,
  lists: Lists,
  path: Path,
): ConfigProblem[] {
  const allowed = `${lists.all.map((list) => list.name).join(', ')}, or the path of one`;
  const owner = `${handler === 'custom' ? 'defineHandler' : handler} "${name}"`;
  const listProblem = (more: Path, list: string, where = ''): ConfigProblem[] => {
    const problem = `found "${list}"${where}; allowed: ${allowed}${meantList(list, lists)}`;
    const suggestion = switchOn(readyMadeLists.parse(list)?.name);
    return lists.parse(list) === undefined ? [{ path: [...path, ...more], owner, problem, suggestion }] : [];
  };
  return [
    ...on.flatMap((pattern, at) => {
      const problem = `found "${pattern}"; allowed: ${anEventType(lists)}${meantType(pattern, lists)}`;
      const suggestion = switchOn(readyMadeLists.byObject(objectOf({ type: pattern }))?.name);
      return selectsType(pattern, lists) ? [] : [{ path: [...path, 'on', at], owner, problem, suggestion }];
    }),
    ...names.flatMap((list, at) => listProblem(['lists', at], list)),
    ...(unchanged?.related ?? []).flatMap((list, at) => listProblem(['unchanged', 'related', at], list)),
    ...[...new Set(namedLists)].flatMap((list) => listProblem([], list, ' as a list in the options')),
    ...Object.keys(include).flatMap((word) =>
      unknownWord(word, lists, [...path, 'include']).map((one) => ({ owner, ...one })),
    ),
  ];
}

/** A subscription to a workspace that does not exist would silently receive nothing. */
export function workspaceProblems(
  { workspaces = [] }: Subscription,
  all: readonly { name: string }[],
  path: Path,
): ConfigProblem[] {
  const names = all.map(({ name }) => name);
  const allowed = `allowed: the names of workspaces (${names.join(', ')})`;
  const unknown = workspaces.filter((name) => !names.includes(name));
  return unknown.map((name) => ({ path: [...path, 'workspaces'], problem: `found "${name}"; ${allowed}` }));
}

/** A ready-made list that is not switched on is known too: it has no records. */
export function unknownWord(word: string, lists: Lists, path: Path): ConfigProblem[] {
  if ([lists, readyMadeLists].some((known) => listsForWord(word, known).length > 0)) return [];
  const objects = lists.all.map(({ object }) => object);
  const problem = `found "${word}"; allowed: ${objects.join(', ')}, or the name of a list${didYouMean(word, objects)}`;
  return [{ path, problem }];
}

function switchOn(list: string | undefined): string | undefined {
  return list && `A workspace with lists: { ${list}: true } has this list.`;
}

/** Relates lists to event types as the configuration does. Paths of lists become their names. */
export function withLists(subscription: Subscription, lists: Lists): Subscription {
  const { lists: given, unchanged } = subscription;
  const namesOf = (texts: readonly string[]): string[] => texts.map((text) => lists.parse(text)?.name ?? text);
  return {
    ...subscription,
    ...(given && { lists: namesOf(given) }),
    ...(unchanged && { unchanged: { ...unchanged, related: namesOf(unchanged.related) } }),
    catalogue: lists,
  };
}
