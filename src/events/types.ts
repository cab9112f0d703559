import type { ObjectName } from './lists.js';

/** A record as the API sent it: `id` and whatever fields the workspace has. Korean keys are kept as they are spelled. */
export type CrmRecord = Readonly<Record<string, unknown>> & { readonly id: string };

export type Verb = 'created' | 'updated' | 'deleted' | 'snapshot';
export type EventType = `crm.${ObjectName}.${Verb}`;

/** One field that differs. `before` or `after` is null where the field was absent or null. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** `edited`: by a person or an integration. `refreshed`: only fields that the system keeps by itself. */
export type ChangeClass = 'edited' | 'refreshed';

/** What gave a change away: its stamp moved, its content differs, or both. */
export type DetectedBy = 'timestamp' | 'content' | 'both';

export interface ChangeData {
  /** The last image known; null for `created` and `snapshot`. */
  readonly before: CrmRecord | null;
  /** The image now; null for `deleted`. */
  readonly after: CrmRecord | null;
  /** Field by field, sorted by name. Empty for `created`, `deleted` and `snapshot`. The stamp itself is not listed. */
  readonly changes: readonly FieldChange[];
  /** 1, 2, 3 … per record, without a gap. */
  readonly sequence: number;
  readonly class: ChangeClass;
  readonly detectedBy: DetectedBy;
  /** ISO 8601, UTC: when Changefeed saw it. */
  readonly observedAt: string;
  /** The id of the sweep that saw it. */
  readonly sweep: string;
}

/** CloudEvents 1.0 in its JSON form. */
export interface ChangeEvent {
  readonly specversion: '1.0';
  /** The same change found twice has the same id. */
  readonly id: string;
  /** `/workspaces/<name>` */
  readonly source: string;
  readonly type: EventType;
  /** The record's id. */
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
