/** A list, given by its name or its path. */
import { z } from 'zod';
import { LIST_NAMES, PATH_OF, parseListName, type ListName } from '../events/lists.js';
import { didYouMean } from './did-you-mean.js';

export const A_LIST = `${LIST_NAMES.join(', ')}, or the path of one`;

/** ` (did you mean "people"?)`, or nothing. */
export function meantList(text: string): string {
  return didYouMean(text, [...LIST_NAMES, ...LIST_NAMES.map((list) => PATH_OF[list].slice('v2/'.length))]);
}

export const listName = z.string({ error: A_LIST }).transform((text, context): ListName => {
  const list = parseListName(text);
  if (list !== undefined) return list;
  context.addIssue({ code: 'custom', message: `${A_LIST}${meantList(text)}` });
  return z.NEVER;
});
