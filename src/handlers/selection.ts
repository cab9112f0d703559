/**
 * Checks what a subscription selects against the lists of a configuration. It is done once the configuration is known: until
 * then a name or type may belong to a list that the configuration adds. A selection that nothing can match would be silent.
 */
import type { Lists } from '../crm/lists/lists.js';
import { anEventType, meantType, selectsType } from '../schema-kit/event-pattern.js';
import { meantList } from '../schema-kit/list-name.js';
import type { Subscription } from './handler.js';
import { keepSettings } from './kind.js';

type Selecting = Pick<Subscription, 'name' | 'handler' | 'on' | 'lists' | 'namedLists'>;

/** What is wrong with the lists and the built-in event types that a subscription names, one sentence each. */
export function selectionProblems(
  { name: owner, handler, on, lists: names = [], namedLists = [] }: Selecting,
  lists: Lists,
  path: string,
): string[] {
  const allowed = `${lists.all.map(({ name }) => name).join(', ')}, or the path of one`;
  const who = `${handler === 'custom' ? 'defineHandler' : handler} "${owner}"`;
  const listProblem = (where: string, name: string): string[] =>
    lists.parse(name) === undefined
      ? [`${where} of ${who}: found "${name}"; allowed: ${allowed}${meantList(name, lists)}.`]
      : [];
  return [
    ...on.flatMap((pattern, at) =>
      selectsType(pattern, lists)
        ? []
        : [
            `${path}.on[${at}] of ${who}: found "${pattern}"; allowed: ${anEventType(lists)}${meantType(pattern, lists)}.`,
          ],
    ),
    ...names.flatMap((name, at) => listProblem(`${path}.lists[${at}]`, name)),
    ...[...new Set(namedLists)].flatMap((name) => listProblem(`${path}, a list in the options`, name)),
  ];
}

/** The same subscription, which relates lists to event types as the configuration does. Paths of lists become their names. */
export function withLists<One extends Pick<Subscription, 'lists'>>(subscription: One, lists: Lists): One {
  const names = subscription.lists?.map((text) => lists.parse(text)?.name ?? text);
  return keepSettings(subscription, { ...subscription, ...(names && { lists: names }), catalogue: lists });
}
