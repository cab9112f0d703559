/** The event types of lists and of the feed. */
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { builtInLists, readyMadeLists } from '../crm/lists/lists.js';
import { NOTICE_KINDS, TODO_VERBS, VERBS, type EventType, type NoticeType } from './kinds.js';

export function typesOf({ name, object }: ListDescriptor): string[] {
  const verbs = name === 'todo' ? [...VERBS, ...TODO_VERBS] : VERBS;
  return verbs.map((verb) => `crm.${object}.${verb}`);
}

export const EVENT_TYPES = [...builtInLists.all, ...readyMadeLists.all].flatMap(typesOf) as readonly EventType[];

export const NOTICE_TYPES: readonly NoticeType[] = NOTICE_KINDS.map((kind): NoticeType => `changefeed.${kind}`);
