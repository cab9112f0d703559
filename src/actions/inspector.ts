/** Questions and decisions about single lists and records: `feed.lists`. */
import type { ListName } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import type { ChangeEvent } from '../events/types.js';
import type { Held } from '../feed/detect/held.js';
import type { ListSchema } from '../feed/detect/schema-drift/schema.js';
import type { RecordStory } from '../feed/list/explain.js';
import type { HeldRecords } from '../ops/server/page/source.js';

/** Which records of a list, and how much of each. */
export interface FindQuery {
  /** Conditions on fields, all must hold: those of `where` on the value after a change. @defaultValue all */
  where?: Readonly<Record<string, unknown>> | undefined;
  /** Only records whose name contains one of these. @defaultValue all */
  names?: readonly string[] | undefined;
  /** Only these fields, and the id. @defaultValue all */
  fields?: readonly string[] | undefined;
  /** The records as they were then; without a zone, of the workspace. @defaultValue as they are now */
  at?: string | undefined;
  /** A field; with `-` before it, the highest first. Records without a value are last. @defaultValue by id */
  sort?: string | undefined;
  /** At most so many, 1 to 200. @defaultValue 20 */
  limit?: number | undefined;
  /** `next` of the answer before. */
  from?: string | undefined;
}

/** The records that were found. */
export interface FoundRecords {
  /** In the order that was asked for. */
  records: CrmRecord[];
  /** `from` of the next answer; null when there are no more. */
  next: string | null;
  /** The time that was asked for. Else ISO 8601, when the list was last read whole; null: not yet, and records may be missing. */
  asOf: string | null;
}

/** A record of which nothing is told for a time, although it is unchanged. */
export interface Snoozed {
  /** What it is called; null where it says nothing. */
  title: string | null;
  /** ISO 8601 */
  until: string;
  /** The subscriptions that are told then, if it is unchanged for as long as they ask. */
  subscriptions: string[];
}

/** Which record a subscription says nothing of. */
export interface MuteCall {
  /** One that tells people: a message or a rule. */
  subscription: string;
  /** @defaultValue the only workspace */
  workspace?: string | undefined;
  list: ListName;
  id: string;
  /** ISO 8601; without a zone, of the workspace. @defaultValue until it is unmuted */
  until?: string | undefined;
}

/** A record of which a subscription says nothing. */
export interface Muted {
  workspace: string;
  list: ListName;
  id: string;
  /** What it is called; null where that is not known. */
  title: string | null;
  /** ISO 8601; null: until it is unmuted. */
  until: string | null;
}

/** Each call takes the name of a workspace, which may be left out when there is only one. */
export interface Inspector {
  /** The names of a workspace's lists, those that are not polled included. */
  names(workspace?: string): ListName[];
  /** Why a record did or did not yield events: what is stored, compared and left out, and the last decisions. */
  explain(list: ListName, id: string, workspace?: string): Promise<RecordStory>;
  /** The stored record; null when there is none, or when only a digest of it is stored. */
  record(list: ListName, id: string, workspace?: string): Promise<CrmRecord | null>;
  /**
   * The records by conditions, in an order.
   * @throws ChangefeedError CF_USAGE also when only the keys of the list are stored, a condition is none, or the history does not reach back to `at`
   */
  find(list: ListName, query?: FindQuery, workspace?: string): Promise<FoundRecords>;
  /** The events of a record that are among the newest of the log, oldest first. */
  events(list: ListName, id: string, workspace?: string): Promise<ChangeEvent[]>;
  /** The fields seen in a list, their value types, and the share of rows that have them. */
  schema(list: ListName, workspace?: string): Promise<ListSchema>;
  /** Says what the last complete sweep of a list held back until a person accepts it, and why. */
  held(list: ListName, workspace?: string): Promise<readonly Held[]>;
  /** Says what all lists hold, each with some of its records. */
  allHeld(workspace?: string): Promise<readonly HeldRecords[]>;
  /**
   * Lets the next complete sweep decide without events what is held: new records are stored, unless receivers were told of them before; missing
   * ones are no longer in the list. The status counts them as discarded. @param what only new records, or only missing ones @returns what that is
   */
  discard(list: ListName, workspace?: string, what?: Held['what']): Promise<readonly Held[]>;
  /**
   * Accepts what is held: the next complete sweep reports it. @param what only new records, or only missing ones @returns what that is
   * @throws CF_USAGE: it has been discarded
   */
  accept(list: ListName, workspace?: string, what?: Held['what']): Promise<readonly Held[]>;
  /**
   * Says nothing of a record that is unchanged (`crm.<object>.unchanged`) before a moment, and then once more, if it still is.
   * @param until ISO 8601; without a zone, of the workspace. A past time is now: the next sweep tells it
   * @throws ChangefeedError CF_USAGE also when no subscription asks for it, or the record is not in the list
   */
  snooze(list: ListName, id: string, until: string, workspace?: string): Promise<Snoozed>;
  /**
   * A subscription says nothing of a record from now on, whatever happens to it; receipts say `muted`. Nothing is said later of what happened meanwhile.
   * An earlier `until` does not end what lasts longer: `unmute` does.
   * @returns what is muted now, and whether that was not so before @throws ChangefeedError CF_USAGE also where the subscription tells no people
   */
  mute(call: MuteCall): Promise<Muted & { changed: boolean }>;
  /** Says something of the record again, from the next event on. @returns whether it was muted */
  unmute(call: Omit<MuteCall, 'until'>): Promise<boolean>;
  /** What a subscription says nothing of; what ends first is first. */
  muted(subscription: string): Promise<Muted[]>;
  /**
   * Forgets a list's baseline: its next sweep is quiet. The stored records and their sequences stay. If that sweep shows another
   * source (another base URL, or hardly any known record), the records it does not show are removed without an event.
   */
  resync(list: ListName, workspace?: string): Promise<void>;
}
