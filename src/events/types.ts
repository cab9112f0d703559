/**
 * Events, described once. The types that handlers are compiled against are inferred from these schemas, and the JSON Schema and the
 * AsyncAPI document in docs/ are made of them, with the comments of the properties as descriptions. A running feed does not load this
 * file: it takes 25 ms, so code imports types from here and nothing else.
 */
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import type { Facts } from '../words/problems.js';
import {
  PROBLEM_KINDS,
  type ActorType,
  type EventType,
  type NoticeKind,
  type NoticeType,
  type TodoVerb,
  type Verb,
} from './kinds.js';

/** `edited`: by a person or an integration. `refreshed`: only fields that the system updates by itself. */
export type ChangeClass = z.output<typeof changeClass>;
const changeClass = z.enum(['edited', 'refreshed']);

/** How a change was detected: by its timestamp, its content, or both. `clock`: no change, a todo is due. */
export type DetectedBy = z.output<typeof detectedBy>;
const detectedBy = z.enum(['timestamp', 'content', 'both', 'clock']);

/** Replaces `z.strictObject`, which would leave the comments of the properties out of the declarations that users get. */
function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodReadonly<z.ZodObject<Shape, z.core.$strict>> {
  return z.strictObject(shape).readonly();
}

const isoTime = z.iso.datetime();
const yes = z.literal(true);
/** `changes` of an event that names no fields. */
export const noChanges = z.custom<readonly []>((value) => Array.isArray(value) && value.length === 0);
export const recordSchema: z.ZodType<CrmRecord> = z.looseObject({ id: z.string().min(1) });

/** A problem of the feed itself; `data.notice` of its event. */
export interface Notice extends z.output<typeof noticeFields> {}
const facts: z.ZodType<Facts> = z.record(z.string(), z.union([z.string(), z.number()]));
const listName: z.ZodType<ListName> = z.string();
const noticeFields = fields({
  /** `error`: something does not work. `warning`: a person should decide or check something. `info`: with `changefeed.snapshot.complete`. */
  severity: z.enum(['error', 'warning', 'info']),
  /** What is wrong, where, and what to do. No record contents, no tokens. */
  message: z.string().min(1),
  /** ISO 8601: since when; null when that is not known. */
  since: isoTime.nullable(),
  /** The list with the problem; null when the problem is not about one list. */
  list: listName.nullable(),
  /** Only with `changefeed.problem.over`: the problem that is over. */
  problem: z.enum(PROBLEM_KINDS).exactOptional(),
  /** The names and numbers in the message, of which it is made in another language. */
  facts: facts.exactOptional(),
});
const notice: z.ZodType<Notice> = noticeFields;

/** Who made a change, as a row of a history says it. */
export interface Actor extends z.output<typeof actorFields> {}
const actorType: z.ZodType<ActorType | (string & {})> = z.string().min(1);
const actorFields = fields({
  /** `user`, `workflow`, `sequence`, `api`, or `field` for the system itself; the API may have further words. */
  type: actorType,
  /** Null for `field`. */
  id: z.string().nullable(),
  /** The name at that time. */
  name: z.string().nullable(),
});
const actor: z.ZodType<Actor> = actorFields;

/** One field that differs. */
export interface FieldChange extends z.output<typeof changeFields> {}
const changeFields = fields({
  /** The name of the field. */
  field: z.string(),
  /** Its value before the change; null where it was absent or null, and where no image is stored. */
  before: z.unknown(),
  /** Its value after the change; null where it is absent or null. */
  after: z.unknown(),
  /** Who changed this field, where that is known, and where the event has no `actor` of all its fields. */
  actor: actor.exactOptional(),
});
const fieldChange: z.ZodType<FieldChange> = changeFields;

/** One field of a list whose value type changed on nearly all of its rows. It has types of values, never contents. */
export interface SchemaChange extends z.output<typeof schemaFields> {}
const schemaFields = fields({
  /** The name of the field. */
  field: z.string(),
  /** `appeared`: it was on hardly any row. `vanished`: it is on hardly any row now. `changed`: it has another value type. */
  kind: z.enum(['appeared', 'vanished', 'changed']),
  /** Rows whose type changed. */
  rows: z.int(),
  /** The share of rows that changed, of those that could: 0 to 1. */
  share: z.number().min(0).max(1),
  /** Samples of the old value types, most frequent first: `absent`, `string`, `{id, name}` … */
  before: z.array(z.string()).readonly(),
  /** Samples of the new value types, most frequent first. */
  after: z.array(z.string()).readonly(),
});
const schemaChange: z.ZodType<SchemaChange> = schemaFields;

/** Several changes of one record, merged into one event for a subscription with `settle`. */
export interface Merged extends z.output<typeof mergedFields> {}
const mergedFields = fields({
  /** The ids of the merged events, in their order. These events are not delivered separately. */
  ids: z.array(z.string()).min(2).readonly(),
  /** The sequence of the first of them. `data.sequence` is that of the last. */
  firstSequence: z.int(),
  /** When Changefeed detected the first of them; ISO 8601, UTC. */
  firstObservedAt: isoTime,
});
const merged: z.ZodType<Merged> = mergedFields;

/** What has not happened to a record for the time that a subscription asks for. */
export interface Unchanged extends z.output<typeof unchangedFields> {}
const unchangedFields = fields({
  /** For how long: `'14d'`. */
  for: z.string(),
  /** `working`: Monday to Friday count. */
  days: z.enum(['calendar', 'working']),
  /** The field that has not changed; null: the record, by a person or an integration. */
  field: z.string().nullable(),
  /** The lists in which nothing that refers to the record was added or changed; empty: it is about the record itself. */
  related: z.array(listName).readonly(),
  /** ISO 8601, UTC: the last change. */
  since: isoTime,
  /** Whether the feed has seen that change. False: the record says itself when it was changed last, and what is asked for may be unchanged for longer. */
  seen: z.boolean(),
});
const unchanged: z.ZodType<Unchanged> = unchangedFields;

/** A stored record that the event's record refers to, as it was when the event was handled. */
export interface Related extends z.output<typeof relatedFields> {
  /** The fields that `include` asks for. */
  readonly [field: string]: unknown;
}
const relatedFields = fields({
  id: z.string(),
  /** What the record is called. */
  title: z.string(),
});
const related: z.ZodType<Related> = relatedFields.unwrap().loose().readonly();

/** The data of any event: what the events of all verbs have together. */
export interface ChangeData extends z.output<typeof changeData> {}
const changeData = fields({
  /**
   * The record before the change. Null where there was none (`created`, `snapshot`, `unchanged`, `due_soon`, `overdue`, `schema_changed`), and
   * where none is stored: for `updated` of a baseline `{ since }`. Always null for a webhook with `thin`.
   */
  before: recordSchema.nullable(),
  /** The record after the change; for a webhook with `thin`, only its `id`. Null only for `deleted` and `schema_changed`. */
  after: recordSchema.nullable(),
  /** The changed fields, sorted by name. Empty for `created`, `deleted`, `unchanged` and `snapshot`. Timestamps of the change are left out. */
  changes: z.array(fieldChange).readonly(),
  /**
   * One more with each change of the record. On another server of Redis (after a restart, a failover, a restored backup) the next is far higher, so
   * the highest sequence is always the newest state. Up to 2^53, such as 1883093401075712: a column for it is a `bigint`. A derived event has the sequence of its source event, or the record's last
   * one.
   */
  sequence: z.int().min(0),
  /**
   * What kind of change it is. `edited`: a person or an integration made it. `refreshed`: only what the system updates by itself, such as counters, the
   * latest note, and the name beside an unchanged id in a reference. In an `edited` event, `changes` may name both kinds.
   */
  class: changeClass,
  /** What showed the change: the record's timestamp, its content, or both. `clock`: nothing changed, a todo is due or a record is unchanged for long. */
  detectedBy: detectedBy,
  /**
   * Who made the change. Only where rows of a history account for all its fields; `changes[].actor` where they account for some. Absent: not known.
   */
  actor: actor.exactOptional(),
  /** ISO 8601, UTC: when Changefeed detected the change. */
  observedAt: isoTime,
  /** The id of the sweep that detected it. */
  sweep: z.string(),
  /** With `created`: the record had been reported as deleted. Its sequence continues. */
  reappeared: yes.exactOptional(),
  /** With `deleted`: the id of the record it was merged into, where that is certain. */
  mergedInto: z.string().exactOptional(),
  /** Only with `schema_changed`. `before` and `after` are null, and the subject is `schema:<field>`. */
  schema: schemaChange.exactOptional(),
  /**
   * With a derived event: the id of its source event. `crm.todo.completed`, `reopened`, `rescheduled` and `reassigned` are derived from the
   * todo's `updated` or `created`.
   */
  derivedFrom: z.string().exactOptional(),
  /** With `crm.todo.due_soon` and `overdue`: the moment the todo is due; ISO 8601. */
  due: isoTime.exactOptional(),
  /** With these two: the todo became due while no process was running, and the event is late. */
  late: yes.exactOptional(),
  /** Only with `unchanged`: what has not happened, and since when. */
  unchanged: unchanged.exactOptional(),
  /** With the feed's own events (`changefeed.*`): the problem. `before` and `after` are null, and `changes` is empty. */
  notice: notice.exactOptional(),
  /** Only with `settle`: what was merged into this event. Events in the log never have it. */
  merged: merged.exactOptional(),
  /** Only with `links` of the workspace: where a person sees the record. Events in the log never have it. */
  link: z.url().exactOptional(),
  /**
   * Only with `include` of the subscription: by its words, the stored records that the record refers to. Null where it refers to none, and where
   * none is stored. Events in the log never have it.
   */
  related: z.record(z.string(), related.nullable()).readonly().exactOptional(),
});

const { before, changes, sequence, observedAt, sweep, link, ...optional } = changeData.unwrap().shape;
const base = { sequence, observedAt, sweep: sweep.min(1) };
const aboutRecord = { ...base, link, related: optional.related };
const found = detectedBy.exclude(['clock']);

const firstSeen = {
  ...aboutRecord,
  before: z.null(),
  after: recordSchema,
  changes: noChanges,
  class: z.literal('edited'),
  detectedBy: found,
  merged: optional.merged,
};
const change = { ...aboutRecord, before, after: recordSchema, changes, class: changeClass, detectedBy: found };
const todoChanged = z.strictObject({ ...change, actor: optional.actor, derivedFrom: z.string() });
const todoDue = z.strictObject({
  ...aboutRecord,
  before: z.null(),
  after: recordSchema,
  changes: noChanges,
  class: z.literal('edited'),
  detectedBy: z.literal('clock'),
  due: isoTime,
  late: optional.late,
});

/** `ChangeData` of each verb. */
export const DATA_OF_VERB = {
  created: z.strictObject({ ...firstSeen, actor: optional.actor, reappeared: optional.reappeared }),
  updated: z.strictObject({ ...change, actor: optional.actor, merged: optional.merged }),
  deleted: z.strictObject({
    ...aboutRecord,
    before,
    after: z.null(),
    changes: noChanges,
    class: z.literal('edited'),
    detectedBy: found,
    mergedInto: optional.mergedInto,
    merged: optional.merged,
  }),
  unchanged: z.strictObject({
    ...aboutRecord,
    before: z.null(),
    after: recordSchema,
    changes: noChanges,
    class: z.literal('edited'),
    detectedBy: z.literal('clock'),
    unchanged,
  }),
  snapshot: z.strictObject(firstSeen),
  schema_changed: z.strictObject({
    ...base,
    before: z.null(),
    after: z.null(),
    changes: noChanges,
    class: z.literal('refreshed'),
    detectedBy: z.literal('content'),
    schema: schemaChange,
  }),
  completed: todoChanged,
  reopened: todoChanged,
  rescheduled: todoChanged,
  reassigned: todoChanged,
  due_soon: todoDue,
  overdue: todoDue,
} satisfies Record<Verb | TodoVerb, z.ZodType<Partial<ChangeData>>>;

/** The data of the feed's own events. */
export function dataOfNotice(kind: NoticeKind) {
  const { problem, ...always } = noticeFields.unwrap().shape;
  return z.strictObject({
    before: z.null(),
    after: z.null(),
    changes: noChanges,
    sequence: sequence.min(1),
    class: z.literal('edited'),
    detectedBy: z.literal('clock'),
    observedAt,
    sweep: z.literal(''),
    notice: z.strictObject({ ...always, ...(kind === 'problem.over' && { problem: problem.unwrap() }) }),
  });
}

interface DataByVerb {
  created: Created;
  updated: Updated;
  deleted: Deleted;
  unchanged: UnchangedFor;
  snapshot: Snapshot;
  schema_changed: SchemaChanged;
  completed: TodoChanged;
  reopened: TodoChanged;
  rescheduled: TodoChanged;
  reassigned: TodoChanged;
  due_soon: TodoDue;
  overdue: TodoDue;
}
interface Created extends DataOf<'created'> {}
interface Updated extends DataOf<'updated'> {}
interface Deleted extends DataOf<'deleted'> {}
interface UnchangedFor extends DataOf<'unchanged'> {}
interface Snapshot extends DataOf<'snapshot'> {}
interface SchemaChanged extends DataOf<'schema_changed'> {}
interface TodoChanged extends DataOf<'completed'> {}
interface TodoDue extends DataOf<'due_soon'> {}

/**
 * `ChangeData` as one verb has it. Properties that the verb never has are absent, so that they can be read from a union of events. The
 * types are mapped over `ChangeData`, so that its comments are also those of the narrower types.
 */
type DataOf<Name extends keyof typeof DATA_OF_VERB, Data = z.output<(typeof DATA_OF_VERB)[Name]>> = {
  readonly [Key in keyof ChangeData as Key extends RequiredKeys<Data> ? Key : never]-?: Data[Key & keyof Data];
} & {
  readonly [Key in keyof ChangeData as Key extends RequiredKeys<Data> ? never : Key]?: Key extends keyof Data
    ? Exclude<Data[Key], undefined>
    : never;
};
type RequiredKeys<Data> = {
  [Key in keyof Data]-?: undefined extends Data[Key] ? never : Key;
}[keyof Data];

/** The data of an event type: `ChangeData`, narrowed to its verb. */
export type EventData<Type extends EventType = EventType> = Type extends `crm.${string}.${infer Name}`
  ? Name extends keyof DataByVerb
    ? DataByVerb[Name]
    : never
  : never;

/** CloudEvents 1.0 in its JSON form. */
export interface ChangeEvent extends z.output<typeof eventSchema> {}
const eventType: z.ZodType<EventType | NoticeType | (string & {})> = z.string();
const anyData: z.ZodType<ChangeData> = changeData;
export const eventSchema = fields({
  /** The version of CloudEvents. */
  specversion: z.literal('1.0'),
  /** `evt_` and 32 hex digits. A change that is detected or delivered twice has the same id both times: the idempotency key. */
  id: z.string().regex(/^evt_[0-9a-f]{32}$/),
  /** The workspace: `/workspaces/<name>`. */
  source: z.string().startsWith('/workspaces/'),
  /** One of `EventType`, one of the feed's own, or one of a list of the configuration. */
  type: eventType,
  /** The record's id; `schema:<field>` where the event is about the list itself. */
  subject: z.string().min(1),
  /** When it happened, ISO 8601, UTC: the record's own time of change, otherwise the time of detection. */
  time: isoTime,
  /** The media type of `data`. */
  datacontenttype: z.literal('application/json'),
  /** The change: the record before and after it, the changed fields, and how it was found. */
  data: anyData,
});

/** An event with its offset in the log. `logId` orders all events of a workspace. */
export interface LoggedEvent {
  /** Its position in the log. */
  readonly logId: string;
  readonly event: ChangeEvent;
}
