/** The built-in lists (built-in.ts), the ready-made ones (ready-made.ts), and those of a configuration. */
import { BUILT_IN } from './built-in.js';
import type { ListDescriptor } from './descriptor.js';
import { READY_MADE } from './ready-made.js';

/** The six lists of the read API. */
export type BuiltInList = (typeof BUILT_IN)[number]['name'];
/** A list that a configuration switches on by its name. */
export type ReadyMadeList = (typeof READY_MADE)[number]['name'];
/** The word for a record of a built-in or ready-made list in event types. */
export type ObjectName = (typeof BUILT_IN | typeof READY_MADE)[number]['object'];
/** The name of a list. A configuration may have more lists than the built-in ones. */
export type ListName = BuiltInList | (string & {});

/** The names of the built-in lists. */
export const LIST_NAMES: readonly BuiltInList[] = BUILT_IN.map(({ name }) => name);

/** Lists by name, path and object; the built-in ones first. */
export type Lists = ReturnType<typeof listsFrom>;

export function createLists(further: readonly ListDescriptor[]): Lists {
  return listsFrom([...BUILT_IN, ...further]);
}

export function listsFrom(all: readonly ListDescriptor[]) {
  const byName = new Map(all.map((list) => [list.name, list]));
  const byObject = new Map(all.map((list) => [list.object, list]));
  return {
    all,
    byName: (name: ListName) => byName.get(name),
    byObject: (object: string) => byObject.get(object),
    /** Finds a list by its name (`activity`) or its path (`people/activity`, `/v2/people/activity`). */
    parse(text: string): ListDescriptor | undefined {
      const wanted = text.trim().replace(/^\/?(v2\/)?/, '');
      return byName.get(wanted) ?? all.find(({ path }) => path === `v2/${wanted}`);
    },
  };
}

export const builtInLists: Lists = createLists([]);

/** Off unless a configuration names them. */
export const readyMadeLists: Lists = listsFrom(READY_MADE);

export function withBuiltIn(lists: readonly ListDescriptor[]): Lists {
  return createLists(lists.filter(({ name }) => builtInLists.byName(name) === undefined));
}

/** A list as its descriptor; a built-in one may be given by its name. */
export type ListRef = BuiltInList | ListDescriptor;

export function nameOf(list: ListRef): ListName {
  return typeof list === 'string' ? list : list.name;
}

export function descriptorOf(list: ListRef): ListDescriptor {
  if (typeof list !== 'string') return list;
  const descriptor = BUILT_IN.find(({ name }) => name === list);
  if (descriptor === undefined) throw new TypeError(`"${list as string}" is not a built-in list: give its descriptor.`);
  return descriptor;
}
