import type { ObjectName } from './lists.js';

/** A record as the API sent it: `id` and whatever fields the workspace has. Korean keys are kept as they are spelled. */
export type CrmRecord = Readonly<Record<string, unknown>> & { readonly id: string };

export type Verb = 'created' | 'updated' | 'deleted' | 'snapshot' | 'schema_changed';
/** What follows from a todo's change, or from its time having come. */
export type TodoVerb = 'completed' | 'reopened' | 'rescheduled' | 'reassigned' | 'due_soon' | 'overdue';
export type EventType = `crm.${ObjectName}.${Verb}` | `crm.todo.${TodoVerb}`;

/** One field that differs. `before` or `after` is null where the field was absent or null. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
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
  /** The last image known; null for `created` and `snapshot`. */
  readonly before: CrmRecord | null;
  /** The image now; null for `deleted`. */
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
  /** Only with `settle`: what was merged into this event. Events in the log never have it. */
  readonly merged?: Merged;
}

/** CloudEvents 1.0 in its JSON form. */
export interface ChangeEvent {
  readonly specversion: '1.0';
  /** The same change found twice has the same id. */
  readonly id: string;
  /** `/workspaces/<name>` */
  readonly source: string;
  /** One of `EventType`, or a type that a derive function of the configuration emits. */
  readonly type: EventType | (string & {});
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
