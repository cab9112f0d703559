/** The event types of lists, of the feed, and of derive functions. */
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { builtInLists, readyMadeLists } from '../crm/lists/lists.js';
import { NOTICE_KINDS, TODO_VERBS, VERBS, type EventType, type NoticeType } from './types.js';

/** The types of the events of one list. */
export function typesOf({ name, object }: ListDescriptor): string[] {
  const verbs = name === 'todo' ? [...VERBS, ...TODO_VERBS] : VERBS;
  return verbs.map((verb) => `crm.${object}.${verb}`);
}

/** The event types of the built-in and of the ready-made lists. */
export const EVENT_TYPES = [...builtInLists.all, ...readyMadeLists.all].flatMap(typesOf) as readonly EventType[];

/** The feed's own events. */
export const NOTICE_TYPES: readonly NoticeType[] = NOTICE_KINDS.map((kind): NoticeType => `changefeed.${kind}`);

/** Whether the first word is that of a derive function's type or pattern. Only the configuration knows which functions exist. */
export function isOwnType(pattern: string): boolean {
  return /^(?!(crm|changefeed)\.)[a-z][a-z0-9_-]*\.[a-z0-9_.*]+$/.test(pattern);
}
