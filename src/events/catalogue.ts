/** The event types of lists, and whether a pattern can select any. */
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { builtInLists } from '../crm/lists/lists.js';
import { compilePattern, compileTypePattern } from './pattern.js';
import { NOTICE_KINDS, TODO_VERBS, VERBS, type EventType, type NoticeType } from './types.js';

/** The types of the events of one list. */
export function typesOf({ name, object }: ListDescriptor): string[] {
  const verbs = name === 'todo' ? [...VERBS, ...TODO_VERBS] : VERBS;
  return verbs.map((verb) => `crm.${object}.${verb}`);
}

/** The event types of the built-in lists. */
export const EVENT_TYPES = builtInLists.all.flatMap(typesOf) as readonly EventType[];

/** The feed's own events. */
export const NOTICE_TYPES: readonly NoticeType[] = NOTICE_KINDS.map((kind): NoticeType => `changefeed.${kind}`);

/** Can a pattern select any event, whatever lists a configuration adds? */
export function mayBeType(pattern: string): boolean {
  const [first, object = '', verb = '', ...rest] = pattern.split('.');
  const ofSomeList =
    first === 'crm' && rest.length === 0 && /^[a-z0-9_*]+$/.test(object) && VERBS.some(compilePattern(verb));
  return ofSomeList || isOwnType(pattern) || [...EVENT_TYPES, ...NOTICE_TYPES].some(compileTypePattern(pattern));
}

/** Whether the first word is that of a derive function's type or pattern. Only the configuration knows which functions exist. */
export function isOwnType(pattern: string): boolean {
  return /^(?!(crm|changefeed)\.)[a-z][a-z0-9_-]*\.[a-z0-9_.*]+$/.test(pattern);
}
