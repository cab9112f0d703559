/** Every event type there is, as values: for whatever must check or list them. The union itself stands in types.ts. */
import { LIST_NAMES, OBJECT_OF } from './lists.js';
import type { EventType, NoticeKind, NoticeType, TodoVerb, Verb } from './types.js';

export const VERBS = ['created', 'updated', 'deleted', 'snapshot', 'schema_changed'] as const satisfies readonly Verb[];

/** Of todos only: derived from their changes, and from the clock. */
export const TODO_VERBS = [
  'completed',
  'reopened',
  'rescheduled',
  'reassigned',
  'due_soon',
  'overdue',
] as const satisfies readonly TodoVerb[];

export const EVENT_TYPES: readonly EventType[] = [
  ...LIST_NAMES.flatMap((list) => VERBS.map((verb): EventType => `crm.${OBJECT_OF[list]}.${verb}`)),
  ...TODO_VERBS.map((verb): EventType => `crm.todo.${verb}`),
];

const NOTICE_KINDS = [
  'redis.evicts',
  'redis.refuses',
  'state.lost',
  'sweep.failed',
  'source.changed',
  'token.refused',
  'list.late',
  'list.silent',
  'removals.held',
  'creations.held',
  'subscription.disabled',
  'subscription.failing',
  'role.missing',
  'loop.stalled',
] as const satisfies readonly NoticeKind[];

/** The feed's own events. */
export const NOTICE_TYPES: readonly NoticeType[] = NOTICE_KINDS.map((kind): NoticeType => `changefeed.${kind}`);

/** A type or pattern of a derive function, to judge by its first word; whether there is such a function, the configuration says. */
export function isOwnType(pattern: string): boolean {
  return /^(?!(crm|changefeed)\.)[a-z][a-z0-9_-]*\.[a-z0-9_.*]+$/.test(pattern);
}
