/**
 * Checks what a subscription selects against the lists of a configuration. It is done once the configuration is known: until
 * then a name or type may belong to a list that the configuration adds. A selection that nothing can match would be silent.
 */
import type { Lists } from '../crm/lists/lists.js';
import { NOTICE_TYPES, TODO_VERBS, VERBS, isOwnType, typesOf } from '../events/catalogue.js';
import { compileTypePattern } from '../events/pattern.js';
import { didYouMean } from '../schema-kit/did-you-mean.js';
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
      isOwnType(pattern) || [...crmTypes(lists), ...NOTICE_TYPES].some(compileTypePattern(pattern))
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

export function anEventType({ all }: Lists): string {
  const objects = all.map(({ object }) => object).join(', ');
  return `crm.<object>.<verb>, with * for any run of characters; objects: ${objects}; verbs: ${VERBS.join(', ')}; of todos also ${TODO_VERBS.join(', ')}`;
}

/** ` (did you mean "…"?)`. People write a list's name in place of the object: "crm.people.created". */
export function meantType(pattern: string, lists: Lists): string {
  const [crm = '', object = '', ...verbs] = pattern.split('.');
  const list = lists.parse(object);
  const wanted = list === undefined ? pattern : [crm, list.object, ...verbs].join('.');
  const wildcards = [...lists.all.map((one) => `crm.${one.object}.*`), ...VERBS.map((verb) => `crm.*.${verb}`)];
  return didYouMean(wanted, pattern.includes('*') ? wildcards : [...crmTypes(lists), ...NOTICE_TYPES]);
}

function crmTypes({ all }: Lists): string[] {
  return all.flatMap(typesOf);
}
