/** The words of event types: verbs, the kinds of the feed's own events, and what a subscription may write to select them. */
import type { ObjectName } from '../crm/lists/lists.js';

export const VERBS = ['created', 'updated', 'deleted', 'unchanged', 'snapshot', 'schema_changed'] as const;
export type Verb = (typeof VERBS)[number];
/** Derived from a change of a todo, or from its due time. */
export const TODO_VERBS = ['completed', 'reopened', 'rescheduled', 'reassigned', 'due_soon', 'overdue'] as const;
export type TodoVerb = (typeof TODO_VERBS)[number];
/** The types of events about records. */
export type EventType = `crm.${ObjectName}.${Verb}` | `crm.todo.${TodoVerb}`;
/** The problems that the feed finds in itself. */
export const PROBLEM_KINDS = [
  'redis.evicts',
  'redis.refuses',
  'state.lost',
  'state.rewound',
  'api.away',
  'sweep.failed',
  'source.changed',
  'workspace.unauthorized',
  'list.late',
  'list.silent',
  'list.cut',
  'list.restless',
  'list.misnamed',
  'removals.held',
  'creations.held',
  'subscription.disabled',
  'subscription.failing',
  'subscription.unconfigured',
  'delivery.late',
  'delivery.dead',
  'snapshot.incomplete',
  'copy.wrong',
  'role.missing',
  'loop.stalled',
  'loop.failing',
  'process.overloaded',
  'rules.differ',
  'rules.missing',
  'configuration.refused',
  'clock.stepped',
] as const;
/**
 * The events that the feed reports about itself: each problem when it begins, and that it is over; and to a subscription that gets a snapshot after
 * Redis went back, that a list is complete. The event type is `changefeed.<kind>`.
 */
export const NOTICE_KINDS = [...PROBLEM_KINDS, 'problem.over', 'snapshot.complete'] as const;
/** The type of an event that the feed reports about itself, without the prefix `changefeed.`. */
export type NoticeKind = (typeof NOTICE_KINDS)[number];
/** The types of the feed's own events. */
export type NoticeType = `changefeed.${NoticeKind}`;

/**
 * An entry of `on`: an event type, or a pattern with `*` for any characters. The editor completes the usual ones. A misspelt verb
 * does not compile; a misspelt object may be a list of your own, and is found when the configuration is loaded.
 */
export type EventPattern =
  | EventType
  | NoticeType
  | 'crm.*'
  | `crm.${ObjectName}.*`
  | `crm.*.${Verb}`
  | 'changefeed.*'
  // Each has `& {}`, or the compiler drops the literals above, and the editor has nothing to complete.
  | (`crm.${string}.created` & {})
  | (`crm.${string}.updated` & {})
  | (`crm.${string}.deleted` & {})
  | (`crm.${string}.unchanged` & {})
  | (`crm.${string}.snapshot` & {})
  | (`crm.${string}.schema_changed` & {})
  | (`${string}*${string}` & {});

/** The kinds of actor. `field`: the system itself, such as a counter or a formula. The API may have further words. */
export const ACTOR_TYPES = ['user', 'workflow', 'sequence', 'api', 'field'] as const;
/** Who made a change: a kind of actor. */
export type ActorType = (typeof ACTOR_TYPES)[number];
