/** The ports through which the dispatcher and the workers use Redis. `src/state` implements them. */
import type { Redis } from 'ioredis';
import type { ListName } from '../crm/lists/lists.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';

/**
 * Opens a connection for BullMQ or for a blocking read. It must use `maxRetriesPerRequest: null`, so that a blocked command
 * survives a restart of Redis. The caller closes it.
 */
export type Connect = () => Redis;

export interface LogReader {
  /** Events after `after` (exclusive; '0' is before all), oldest first, at most `count`. */
  read(workspace: string, after: string, count: number): Promise<LoggedEvent[]>;
  /** The id of the newest event; '0' when the log is empty. */
  tail(workspace: string): Promise<string>;
  /** Resolves true as soon as there is an event after `after`, false after `timeoutMs` or when aborted. */
  waitForMore(workspace: string, after: string, timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  /** Closes the connections that `waitForMore` opened. */
  close(): Promise<void>;
}

/** The offset of each subscription in each workspace's log. */
export interface OffsetStore {
  get(workspace: string, subscription: string): Promise<string | null>;
  set(workspace: string, subscription: string, logId: string): Promise<void>;
  /** Sets the first offset of a new subscription. If another process has set one already, that one stays. Returns the stored offset. */
  begin(workspace: string, subscription: string, logId: string): Promise<string>;
}

/** An event for one subscription, as the gate knows it. */
export interface Entry {
  workspace: string;
  logId: string;
  /** The id of its job: the event's id, followed by the replay's id if a replay sent it. */
  eventId: string;
  /** The ordering group: the record whose events stay in order. Null when the subscription has no order. */
  group: string | null;
}

export interface Standing {
  /** `head`: may run. `behind`: waits for an earlier event of its group. `left`: already handled or dead. */
  standing: 'head' | 'behind' | 'left';
  /** False when the event had been entered before: the batch was repeated after a crash. */
  fresh: boolean;
}

/** One run of an event: it asks for its turn, and later reports that it is done. */
export interface Claim extends Entry {
  /**
   * Identifies this run among all runs of the event, so that a run that lost its job to another process cannot act for it.
   * Ends in `/n`, the number of the job's start. Of two runs, the one with the higher number is valid, regardless of which
   * one asks last.
   */
  holder: string;
  /** A retried dead letter: it goes to the end of its group. */
  retried: boolean;
  /** Sent by a backfill: it got its position in the group when it was entered. */
  backfilled?: boolean;
  /** The position of a retried dead letter, as returned by `reenter`. */
  position?: string;
}

/** An event of a backfill. `mark` is its number within the backfill, as a text that sorts in order. */
export type MarkedEntry = Entry & { mark: string };

export type Reentry = { outcome: 'placed'; position: string } | { outcome: 'taken-over' };

export type Turn =
  | { outcome: 'go' }
  | { outcome: 'wait'; behind: string }
  | { outcome: 'left'; next: string | null }
  | { outcome: 'taken-over' };
export type Leave = { outcome: 'left'; next: string | null } | { outcome: 'taken-over' };
/** A held event keeps the head of its group and no longer counts as pending. */
export type Hold = { outcome: 'held' } | { outcome: 'taken-over' };

/** The events that leave a group together with its head. */
export interface Followers {
  /** Job ids of the events directly behind the head, in order. */
  followers: readonly string[];
}

export interface Pending {
  /** Events entered and neither handled nor dead. */
  events: number;
  /** The log id of the oldest of them. */
  oldest: string | null;
}

/**
 * Keeps the events of one record in order within one subscription. Each record has an ordering group: a queue of its events
 * in log order, of which only the head may run. Every operation can be repeated after a crash without further effect.
 */
export interface RecordGate {
  /** Appends events, in log order, to their groups. Returns the standing of each. */
  enter(subscription: string, workspace: string, entries: readonly Entry[]): Promise<Standing[]>;
  /** Appends events of a backfill (a replay or a snapshot) to their groups, in the order given. Returns the standing of each. */
  enterBackfill(subscription: string, backfill: string, entries: readonly MarkedEntry[]): Promise<Standing[]>;
  /**
   * Gives a retried dead letter its position in its group, once per life. Called by the command that retries it (token null),
   * so that several retried events keep their order, and by the worker that runs it, which proves with the token that it
   * holds the job.
   */
  reenter(subscription: string, entry: Entry, by: { token: string | null; life: number }): Promise<Reentry>;
  /** Asks whether this event may run now. If so, from then on only this `holder` can make it leave. */
  turn(subscription: string, claim: Claim): Promise<Turn>;
  /** The event is handled or dead: it leaves its group. `next` is the event now at the head, if any. */
  leave(subscription: string, claim: Claim): Promise<Leave>;
  /** The event is dead, and its followers wait until it is retried or dropped. */
  hold(subscription: string, claim: Claim): Promise<Hold>;
  /** The ids of the jobs directly behind this head, in order; none when it is not the head. */
  followers(subscription: string, claim: Claim, most: number): Promise<string[]>;
  /** Merges followers into the head: in one step, they leave the group and the head's job gets `delivery`. The head stays. */
  merge(subscription: string, claim: Claim, merge: Followers & { delivery: Delivery }): Promise<Hold>;
  /** The head and the followers are handled: all of them leave in one step. */
  leaveTogether(subscription: string, claim: Claim, behind: Followers): Promise<Leave>;
  /** A dead letter is dropped: if it was held at the head of its group, it leaves. Returns the new head. */
  drop(subscription: string, entry: Entry): Promise<{ next: string | null }>;
  pending(subscription: string, workspace: string): Promise<Pending>;
}

/** One side effect of one event's handling. */
export interface OnceMark {
  subscription: string;
  workspace: string;
  eventId: string;
  key: string;
}

/** Stores which side effects have started and which are done. */
export interface OnceStore {
  /** `begun`: this call has started it. `started`: an earlier call did, and its end is unknown. */
  begin(mark: OnceMark): Promise<'begun' | 'started' | 'done'>;
  finish(mark: OnceMark): Promise<void>;
  forget(mark: OnceMark): Promise<void>;
}

/**
 * The backfills (replays and snapshots) of a subscription that are not finished. Each task is one text under a name. Tasks
 * change by compare-and-set: of two processes at the same task, one succeeds and the other reads it again.
 */
export interface BackfillStore {
  /** All tasks of a subscription. */
  tasks(subscription: string): Promise<ReadonlyMap<string, string>>;
  /** Stores a task unless there is one of this name. */
  begin(subscription: string, name: string, text: string): Promise<void>;
  /** Replaces a task, or deletes it (`to: null`). False when it no longer equals `from`; then nothing was done. */
  move(subscription: string, step: TaskStep): Promise<boolean>;
  /** Stages one chunk of a snapshot and moves the task on. Each record is staged at most once per snapshot. */
  stage(subscription: string, workspace: string, chunk: TaskStep & StagedChunk): Promise<boolean>;
  /** The events of the staged chunk, as JSON. */
  staged(subscription: string, workspace: string): Promise<string[]>;
  /** The staged chunk is sent: deletes it and moves the task on. */
  unstage(subscription: string, workspace: string, step: TaskStep): Promise<boolean>;
  /** For each record, the end of the log when its image was read; null when it was not read. */
  seen(subscription: string, workspace: string, records: readonly string[]): Promise<(string | null)[]>;
  /** Deletes what `seen` returns. */
  forgetSeen(subscription: string, workspace: string): Promise<void>;
}

export interface TaskStep {
  name: string;
  from: string;
  to: string | null;
}

export interface StagedChunk {
  /** The end of the log when the images were read. */
  tail: string;
  /** `event` is null where nothing is to be sent. */
  records: readonly { record: string; event: ChangeEvent | null }[];
}

/** How far a list's images have been read. Valid until the Redis server restarts: its cursors are lost then. */
export interface ScanPosition {
  cursor: string;
  server: string;
}

/** Some records of a list and the end of the log, read at the same moment. */
export interface Scan {
  /** Null when these were the last. */
  next: ScanPosition | null;
  tail: string;
  /** `event` is null where the record is deleted. Records without an image are only counted. */
  records: readonly { key: string; event: ChangeEvent | null }[];
  withoutImage: number;
}

/**
 * `ready`: has a complete baseline. `waiting`: will have one. `off`: is not swept. `imageless`: stores no images, so its
 * records cannot be shown.
 */
export type ListReadiness = 'ready' | 'waiting' | 'off' | 'imageless';

/** The stored records, for snapshots. */
export interface SnapshotSource {
  readiness(workspace: string, lists: readonly ListName[]): Promise<ReadonlyMap<ListName, ListReadiness>>;
  /** One step through the records of a list. Over all steps, each record comes at least once. */
  scan(workspace: string, list: ListName, from: ScanPosition | null): Promise<Scan>;
}

export interface WorkspaceTraces {
  keys: number;
  events: number;
  records: number;
}

/** Finds and removes everything that is stored for a workspace. */
export interface TraceStore {
  /** Lists that are being swept: a process holds their lease. */
  sweeping(workspace: string): Promise<string[]>;
  /** Removes everything under the workspace's own keys, and the marks of `once`. */
  removeWorkspace(workspace: string): Promise<WorkspaceTraces>;
  /** Every subscription for which anything is stored, with the ids of its jobs that carry the workspace's events. */
  deliveries(workspace: string): Promise<Map<string, string[]>>;
  /** Removes the ordering state of a workspace's events in a subscription. */
  removeTraces(subscription: string, workspace: string, jobIds: readonly string[]): Promise<number>;
  /** Removes the queue's notices about jobs that no longer exist. */
  removeNotices(subscription: string): Promise<number>;
}

/** Why nothing is delivered to a subscription. */
export interface Disabled {
  /** ISO 8601. */
  at: string;
  /** A text for people. */
  reason: string;
  /** The retention of the log dropped events that it had not read yet. */
  missing: boolean;
}

export interface Health {
  /** The first failure since the last recorded success, ms. Successes are not recorded here: the caller compares with the last one. */
  failingSinceMs: number | null;
  /** Null: it is enabled. */
  disabled: Disabled | null;
}

export interface FailureNote {
  nowMs: number;
  /** When an attempt last succeeded; 0: no success is known. */
  succeededAtMs: number;
  /** How long failures may go on before the subscription is disabled; 0: without limit. */
  disableAfterMs: number;
  /** Stored when it is disabled. */
  reason: string;
}

/** `disabling`: this call has disabled it (true for one call only). `disabled`: it was disabled before. */
export type DisableOutcome = 'disabling' | 'disabled';

/** The health of each subscription, over all processes. */
export interface HealthStore {
  read(subscription: string): Promise<Health>;
  /** Notes a failed attempt. Disables the subscription when it has failed for long enough. */
  failed(subscription: string, note: FailureNote): Promise<'failing' | DisableOutcome>;
  disable(subscription: string, because: { atMs: number; reason: string }): Promise<DisableOutcome>;
  /** Clears its failures too. Returns how it was disabled, or null. */
  enable(subscription: string): Promise<Disabled | null>;
  /** Notes that retention dropped events a disabled subscription has not read. Returns true the first time. */
  missed(subscription: string): Promise<boolean>;
}

/** The data of a BullMQ job in a subscription's queue. */
export interface Delivery {
  event: ChangeEvent;
  workspace: string;
  logId: string;
  /** The ordering group when the event was entered: a changed `order` applies to events read after the change. */
  group: string | null;
  /** The id of the replay that sent it, if one did. */
  replay?: string;
  /**
   * With debounce: the merge is decided, and `event` may have an id of its own. This is the id under which the job was
   * entered, which stays the job's id.
   */
  mergedUnder?: string;
  /** Sent by a snapshot (`start: 'snapshot'`): the first event a new subscription gets for this record. */
  snapshot?: true;
}
