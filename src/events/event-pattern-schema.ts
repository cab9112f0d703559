/** Patterns of event types in options and arguments: what is allowed, and what was probably meant. */
import type { Lists } from '../crm/lists/lists.js';
import { NOTICE_TYPES, typesOf } from './catalogue.js';
import { compileTypePattern } from './pattern.js';
import { TODO_VERBS, VERBS } from './kinds.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';

export function selectsType(pattern: string, lists: Lists): boolean {
  return allTypes(lists).some(compileTypePattern(pattern));
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
  return didYouMean(wanted, pattern.includes('*') ? wildcards : allTypes(lists));
}

function allTypes({ all }: Lists): string[] {
  return [...all.flatMap(typesOf), ...NOTICE_TYPES];
}
