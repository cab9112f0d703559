/** A list, given by its name or its path, or in code as `defineList` returns it. */
import { z } from 'zod';
import type { ListDescription } from './define.js';
import { builtInLists, LIST_NAMES, type ListName } from './lists.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';

export const A_LIST = `${LIST_NAMES.join(', ')}, or the path of one`;

/** ` (did you mean "people"?)`, or nothing. Events use the object's name, so `person` is meant as `people`. */
export function meantList(text: string, lists = builtInLists): string {
  const { all } = lists;
  const named = lists.byObject(text);
  if (named !== undefined) return ` (did you mean "${named.name}"?)`;
  return didYouMean(text, [...all.map(({ name }) => name), ...all.map(({ path }) => path.slice('v2/'.length))]);
}

const NAMED = 'the name or the path of a list, or in code what defineList returns';

/** The path of a built-in list becomes its name. Only the configuration knows which other lists there are. */
export const listName = z
  .custom<ListName | Pick<ListDescription, 'name'>>(
    (value) => typeof nameIn(value) === 'string' && nameIn(value) !== '',
    { error: NAMED },
  )
  .transform((value): ListName => builtInLists.parse(String(nameIn(value)))?.name ?? String(nameIn(value)));

function nameIn(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'name' in value ? value.name : value;
}
