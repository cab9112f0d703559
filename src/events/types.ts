import type { FieldChange } from '../crm/diff.js';
import type { ListName, ObjectName } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';

export type { FieldChange } from '../crm/diff.js';

export type Verb = 'created' | 'updated' | 'deleted' | 'snapshot' | 'schema_changed';
/** What follows from a todo's change, or from its time having come. */
export type TodoVerb = 'completed' | 'reopened' | 'rescheduled' | 'reassigned' | 'due_soon' | 'overdue';
export type EventType = `crm.${ObjectName}.${Verb}` | `crm.todo.${TodoVerb}`;
/** What the feed reports about itself: the type of such an event is `changefeed.<kind>`. */
export type NoticeKind =
  | 'redis.evicts'
  | 'redis.refuses'
  | 'state.lost'
  | 'sweep.failed'
  | 'source.changed'
  | 'token.refused'
  | 'list.late'
  | 'list.silent'
  | 'removals.held'
  | 'creations.held'
  | 'subscription.disabled'
  | 'subscription.failing'
  | 'role.missing'
  | 'loop.stalled';
export type NoticeType = `changefeed.${NoticeKind}`;

/** What is wrong with the feed itself; `data.notice` of its event. */
export interface Notice {
  /** `error`: something does not work. `warning`: a person should decide or check something. */
  readonly severity: 'error' | 'warning';
  /** What is wrong, where, and what to do. No record contents, no tokens. */
  readonly message: string;
  /** ISO 8601: since when; null when that is not known. */
  readonly since: string | null;
  /** The list it is about, where it is about one. */
  readonly list: ListName | null;
}

/** `edited`: by a person or an integration. `refreshed`: only fields that the system keeps by itself. */
export type ChangeClass = 'edited' | 'refreshed';

/** What gave a change away: its stamp moved, its content differs, or both. `clock`: nothing changed, a todo's time has come. */
export type DetectedBy = 'timestamp' | 'content' | 'both' | 'clock';

/** One field of a list that took another form on nearly all of its rows. Forms are types, never contents. */
export interface SchemaChange {
  readonly field: string;
  readonly kind: 'appeared' | 'vanished' | 'changed';
  /** Rows that moved. */
  readonly rows: number;
  /** Rows that moved, of those that could: 0 to 1. */
  readonly share: number;
  /** Samples of the old forms and of the new ones, most frequent first: `absent`, `string`, `{id, name}` … */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Several changes of one record, told as one to a subscription with `settle`. */
export interface Merged {
  /** Of the events that were merged, in their order; they are not delivered by themselves. */
  readonly ids: readonly string[];
  /** The sequence of the first of them. `data.sequence` is that of the last. */
  readonly firstSequence: number;
  /** When Changefeed saw the first of them; ISO 8601, UTC. */
  readonly firstObservedAt: string;
}

export interface ChangeData {
  /**
   * The last image known. Null where there was none (`created`, `snapshot`, `due_soon`, `overdue`, `schema_changed`), and where none is
   * kept: with `images: false`, at the first change after it was switched on again, for `updated` of a baseline `{ since }`.
   */
  readonly before: CrmRecord | null;
  /** The image now; with `images: false` its `id` alone. Null for `deleted` and `schema_changed` and for nothing else. */
  readonly after: CrmRecord | null;
  /** Field by field, sorted by name. Empty for `created`, `deleted` and `snapshot`. The stamp itself is not listed. */
  readonly changes: readonly FieldChange[];
  /** 1, 2, 3 … per record, without a gap. A derived event has that of the event it comes from, or of the record's last one. */
  readonly sequence: number;
  readonly class: ChangeClass;
  readonly detectedBy: DetectedBy;
  /** ISO 8601, UTC: when Changefeed saw it. */
  readonly observedAt: string;
  /** The id of the sweep that saw it. */
  readonly sweep: string;
  /** With `created`: the record had been reported as deleted; its sequence goes on. */
  readonly reappeared?: true;
  /** With `deleted`: the id of the record it was merged into, where that is certain. */
  readonly mergedInto?: string;
  /** With `schema_changed`: `before` and `after` are null then, and the subject is `schema:<field>`. */
  readonly schema?: SchemaChange;
  /** With a derived event: the id of the event it comes from. */
  readonly derivedFrom?: string;
  /** With an event that a derive function made: its name, and what it had to say. */
  readonly derivedBy?: string;
  readonly derived?: Readonly<Record<string, unknown>>;
  /** With `crm.todo.due_soon` and `overdue`: the moment the todo is due; ISO 8601. */
  readonly due?: string;
  /** With these two: it was due while nobody looked, and is told late. */
  readonly late?: true;
  /** With the feed's own events (`changefeed.*`): what is wrong. `before` and `after` are null then, and `changes` is empty. */
  readonly notice?: Notice;
  /** Only with `settle`: what was merged into this event. Events in the log never have it. */
  readonly merged?: Merged;
}

type Base = Pick<ChangeData, 'sequence' | 'observedAt' | 'sweep'>;
type Found = Exclude<DetectedBy, 'clock'>;

interface FirstSeen extends Base {
  readonly before: null;
  readonly after: CrmRecord;
  readonly changes: readonly [];
  readonly class: 'edited';
  readonly detectedBy: Found;
  readonly merged?: Merged;
}

interface Created extends FirstSeen {
  readonly reappeared?: true;
}

interface Updated extends Base {
  readonly before: CrmRecord | null;
  readonly after: CrmRecord;
  readonly changes: readonly FieldChange[];
  readonly class: ChangeClass;
  readonly detectedBy: Found;
  readonly merged?: Merged;
}

interface Deleted extends Base {
  readonly before: CrmRecord | null;
  readonly after: null;
  readonly changes: readonly [];
  readonly class: 'edited';
  readonly detectedBy: Found;
  readonly mergedInto?: string;
  readonly merged?: Merged;
}

interface SchemaChanged extends Base {
  readonly before: null;
  readonly after: null;
  readonly changes: readonly [];
  readonly class: 'refreshed';
  readonly detectedBy: 'content';
  readonly schema: SchemaChange;
}

interface TodoChanged extends Base {
  readonly before: CrmRecord | null;
  readonly after: CrmRecord;
  readonly changes: readonly FieldChange[];
  readonly class: ChangeClass;
  readonly detectedBy: Found;
  readonly derivedFrom: string;
}

interface TodoDue extends Base {
  readonly before: null;
  readonly after: CrmRecord;
  readonly changes: readonly [];
  readonly class: 'edited';
  readonly detectedBy: 'clock';
  readonly due: string;
  readonly late?: true;
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

/** What it does not carry is not there: a union of events can be asked for it all the same. */
type WithoutTheRest<Data> = Data & { readonly [Name in Exclude<keyof ChangeData, keyof Data>]?: never };

/**
 * What an event of a type carries: `ChangeData`, as narrow as it is for its verb. `test/support/event-schemas.ts` says the same in
 * schemas, by which the events of real sweeps are checked.
 */
export type EventData<Type extends EventType = EventType> = Type extends `crm.${string}.${infer Name}`
  ? Name extends keyof DataByVerb
    ? WithoutTheRest<DataByVerb[Name]>
    : never
  : never;

/** CloudEvents 1.0 in its JSON form. */
export interface ChangeEvent {
  readonly specversion: '1.0';
  /** The same change found twice has the same id. */
  readonly id: string;
  /** `/workspaces/<name>` */
  readonly source: string;
  /** One of `EventType`, one of the feed's own, or a type that a derive function of the configuration emits. */
  readonly type: EventType | NoticeType | (string & {});
  /** The record's id; `schema:<field>` where the event is about the list itself. */
  readonly subject: string;
  /** The record's own change time where it has one, otherwise the moment of observation. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: ChangeData;
}

/** An event with its place in the log: `logId` orders all events of a workspace. */
export interface LoggedEvent {
  readonly logId: string;
  readonly event: ChangeEvent;
}
