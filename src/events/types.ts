import type { FieldChange as ChangedField } from '../crm/canonical.js';
import type { ListName, ObjectName } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import type { Facts } from '../words/problems.js';

export const VERBS = ['created', 'updated', 'deleted', 'snapshot', 'schema_changed'] as const;
export type Verb = (typeof VERBS)[number];
/** Derived from a change of a todo, or from its due time. */
export const TODO_VERBS = ['completed', 'reopened', 'rescheduled', 'reassigned', 'due_soon', 'overdue'] as const;
export type TodoVerb = (typeof TODO_VERBS)[number];
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
  'token.refused',
  'list.late',
  'list.silent',
  'list.cut',
  'list.restless',
  'removals.held',
  'creations.held',
  'subscription.disabled',
  'subscription.failing',
  'subscription.unconfigured',
  'delivery.late',
  'delivery.dead',
  'role.missing',
  'loop.stalled',
  'loop.failing',
  'process.overloaded',
  'clock.stepped',
] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];
/**
 * What the feed reports about itself: each problem when it begins, and that it is over; and to a subscription that gets a snapshot after Redis went
 * back, that a list is complete. The event type is `changefeed.<kind>`.
 */
export const NOTICE_KINDS = [...PROBLEM_KINDS, 'problem.over', 'snapshot.complete'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];
export type NoticeType = `changefeed.${NoticeKind}`;

/**
 * What `on` may contain: an event type, or a pattern with `*` for any characters. The editor completes the usual ones. A misspelt verb
 * does not compile; a misspelt object may be a list of your own, and is found when the configuration is loaded.
 */
export type EventPattern =
  | EventType
  | NoticeType
  | 'crm.*'
  | `crm.${ObjectName}.*`
  | `crm.*.${Verb}`
  | 'changefeed.*'
  // With `& {}`, one by one, or the compiler drops the literals above, and the editor has nothing to complete.
  | (`crm.${string}.created` & {})
  | (`crm.${string}.updated` & {})
  | (`crm.${string}.deleted` & {})
  | (`crm.${string}.snapshot` & {})
  | (`crm.${string}.schema_changed` & {})
  | (`${string}*${string}` & {});

/** A problem of the feed itself; `data.notice` of its event. */
export interface Notice {
  /** `error`: something does not work. `warning`: a person should decide or check something. `info`: with `changefeed.snapshot.complete`. */
  readonly severity: 'error' | 'warning' | 'info';
  /** What is wrong, where, and what to do. No record contents, no tokens. */
  readonly message: string;
  /** ISO 8601: since when; null when that is not known. */
  readonly since: string | null;
  /** The list with the problem; null when the problem is not about one list. */
  readonly list: ListName | null;
  /** Only with `changefeed.problem.over`: the problem that is over. */
  readonly problem?: ProblemKind;
  /** The names and numbers in the message, of which it is made in another language. Absent in events of earlier releases. */
  readonly facts?: Facts;
}

/** `edited`: by a person or an integration. `refreshed`: only fields that the system updates by itself. */
export type ChangeClass = 'edited' | 'refreshed';

/** How a change was detected: by its timestamp, its content, or both. `clock`: no change, a todo is due. */
export type DetectedBy = 'timestamp' | 'content' | 'both' | 'clock';

/** What makes changes. `field`: the system itself, such as a counter or a formula. The API may have further words. */
export const ACTOR_TYPES = ['user', 'workflow', 'sequence', 'api', 'field'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** Who made a change, as a row of a history says it. */
export interface Actor {
  readonly type: ActorType | (string & {});
  /** Null for `field`. */
  readonly id: string | null;
  /** The name at that time. */
  readonly name: string | null;
}

/** One field that differs. */
export interface FieldChange extends ChangedField {
  /** Who changed this field, where that is known, and where the event has no `actor` of all its fields. */
  readonly actor?: Actor;
}

/** One field of a list whose value type changed on nearly all of its rows. It has types of values, never contents. */
export interface SchemaChange {
  /** The name of the field. */
  readonly field: string;
  /** `appeared`: it was on hardly any row. `vanished`: it is on hardly any row now. `changed`: it has another value type. */
  readonly kind: 'appeared' | 'vanished' | 'changed';
  /** Rows whose type changed. */
  readonly rows: number;
  /** The share of rows that changed, of those that could: 0 to 1. */
  readonly share: number;
  /** Samples of the old and of the new value types, most frequent first: `absent`, `string`, `{id, name}` … */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Several changes of one record, merged into one event for a subscription with `settle`. */
export interface Merged {
  /** The ids of the merged events, in their order. These events are not delivered separately. */
  readonly ids: readonly string[];
  /** The sequence of the first of them. `data.sequence` is that of the last. */
  readonly firstSequence: number;
  /** When Changefeed detected the first of them; ISO 8601, UTC. */
  readonly firstObservedAt: string;
}

/** A stored record that the event's record refers to, as it was when the event was handled. */
export interface Related {
  readonly id: string;
  /** What the record is called. */
  readonly title: string;
  /** The fields that `include` asks for. */
  readonly [field: string]: unknown;
}

export interface ChangeData {
  /**
   * The record before the change. Null where there was none (`created`, `snapshot`, `due_soon`, `overdue`, `schema_changed`), and
   * where none is stored: with `images: false`, in the first sweep after `images` was switched on again, and for `updated` of a
   * baseline `{ since }`. Always null for a webhook with `thin`.
   */
  readonly before: CrmRecord | null;
  /** The record after the change; with `images: false`, and for a webhook with `thin`, only its `id`. Null only for `deleted` and `schema_changed`. */
  readonly after: CrmRecord | null;
  /** The changed fields, sorted by name. Empty for `created`, `deleted` and `snapshot`, and with `images: false`. Timestamps of the change are left out. */
  readonly changes: readonly FieldChange[];
  /**
   * One more with each change of the record. On another server of Redis (after a restart, a failover, a restored backup) the next is far higher, so
   * the highest sequence is always the newest state. A derived event has the sequence of its source event, or the record's last
   * one.
   */
  readonly sequence: number;
  /**
   * What kind of change it is. `edited`: a person or an integration made it. `refreshed`: only what the system updates by itself, such as counters, the
   * latest note, and the name beside an unchanged id in a reference. In an `edited` event, `changes` may name both kinds.
   */
  readonly class: ChangeClass;
  /** What showed the change: the record's timestamp, its content, or both. `clock`: nothing changed, a todo is due. */
  readonly detectedBy: DetectedBy;
  /**
   * Who made the change. Only where rows of a history account for all its fields; `changes[].actor` where they account for some. Absent: not known.
   */
  readonly actor?: Actor;
  /** ISO 8601, UTC: when Changefeed detected the change. */
  readonly observedAt: string;
  /** The id of the sweep that detected it. */
  readonly sweep: string;
  /** With `created`: the record had been reported as deleted. Its sequence continues. */
  readonly reappeared?: true;
  /** With `deleted`: the id of the record it was merged into, where that is certain. */
  readonly mergedInto?: string;
  /** Only with `schema_changed`. `before` and `after` are null, and the subject is `schema:<field>`. */
  readonly schema?: SchemaChange;
  /**
   * With a derived event: the id of its source event. `crm.todo.completed`, `reopened`, `rescheduled` and `reassigned` are derived from the
   * todo's `updated` or `created`.
   */
  readonly derivedFrom?: string;
  /** With `crm.todo.due_soon` and `overdue`: the moment the todo is due; ISO 8601. */
  readonly due?: string;
  /** With these two: the todo became due while no process was running, and the event is late. */
  readonly late?: true;
  /** With the feed's own events (`changefeed.*`): the problem. `before` and `after` are null, and `changes` is empty. */
  readonly notice?: Notice;
  /** Only with `settle`: what was merged into this event. Events in the log never have it. */
  readonly merged?: Merged;
  /** Only with `links` of the workspace: where a person sees the record. Events in the log never have it. */
  readonly link?: string;
  /**
   * Only with `include` of the subscription: by its words, the stored records that the record refers to. Null where it refers to none, and where
   * none is stored. Events in the log never have it.
   */
  readonly related?: Readonly<Record<string, Related | null>>;
}

type Found = Exclude<DetectedBy, 'clock'>;
type With<Name extends keyof ChangeData> = Pick<ChangeData, Name>;
/** What every event has. Extended below, so that the comments above are also those of the narrower types. */
type Base = With<'before' | 'after' | 'changes' | 'sequence' | 'class' | 'detectedBy' | 'observedAt' | 'sweep'>;
/** What every event about a record may have. */
interface AboutRecord extends Base, With<'link' | 'related'> {}

interface FirstSeen extends AboutRecord, With<'merged'> {
  readonly before: null;
  readonly after: CrmRecord;
  readonly changes: readonly [];
  readonly class: 'edited';
  readonly detectedBy: Found;
}

interface Created extends FirstSeen, With<'reappeared' | 'actor'> {}

interface Changed extends AboutRecord {
  readonly after: CrmRecord;
  readonly detectedBy: Found;
}

interface Updated extends Changed, With<'merged' | 'actor'> {}

interface TodoChanged extends Changed, Required<With<'derivedFrom'>>, With<'actor'> {}

interface Deleted extends AboutRecord, With<'mergedInto' | 'merged'> {
  readonly after: null;
  readonly changes: readonly [];
  readonly class: 'edited';
  readonly detectedBy: Found;
}

interface SchemaChanged extends Base, Required<With<'schema'>> {
  readonly before: null;
  readonly after: null;
  readonly changes: readonly [];
  readonly class: 'refreshed';
  readonly detectedBy: 'content';
}

interface TodoDue extends AboutRecord, Required<With<'due'>>, With<'late'> {
  readonly before: null;
  readonly after: CrmRecord;
  readonly changes: readonly [];
  readonly class: 'edited';
  readonly detectedBy: 'clock';
}

interface DataByVerb {
  created: Created;
  updated: Updated;
  deleted: Deleted;
  snapshot: FirstSeen;
  schema_changed: SchemaChanged;
  completed: TodoChanged;
  reopened: TodoChanged;
  rescheduled: TodoChanged;
  reassigned: TodoChanged;
  due_soon: TodoDue;
  overdue: TodoDue;
}

/** Declares the other properties as absent, so that they can be read from a union of events. */
type WithoutTheRest<Data> = Data & { readonly [Name in keyof ChangeData as Exclude<Name, keyof Data>]?: never };

/**
 * The data of an event type: `ChangeData`, narrowed to its verb. `test/support/event-schemas.ts` has the same rules as schemas,
 * and a test checks events of real sweeps against them.
 */
export type EventData<Type extends EventType = EventType> = Type extends `crm.${string}.${infer Name}`
  ? Name extends keyof DataByVerb
    ? WithoutTheRest<DataByVerb[Name]>
    : never
  : never;

/** CloudEvents 1.0 in its JSON form. */
export interface ChangeEvent {
  /** The version of CloudEvents. */
  readonly specversion: '1.0';
  /** `evt_` and 32 hex digits. A change that is detected or delivered twice has the same id both times: the idempotency key. */
  readonly id: string;
  /** The workspace: `/workspaces/<name>`. */
  readonly source: string;
  /** One of `EventType`, one of the feed's own, or one of a list of the configuration. */
  readonly type: EventType | NoticeType | (string & {});
  /** The record's id; `schema:<field>` where the event is about the list itself. */
  readonly subject: string;
  /** When it happened, ISO 8601, UTC: the record's own time of change, otherwise the time of detection. */
  readonly time: string;
  /** The media type of `data`. */
  readonly datacontenttype: 'application/json';
  /** The change: the record before and after it, the changed fields, and how it was found. */
  readonly data: ChangeData;
}

/** An event with its offset in the log. `logId` orders all events of a workspace. */
export interface LoggedEvent {
  readonly logId: string;
  readonly event: ChangeEvent;
}
