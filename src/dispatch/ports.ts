/** What fan-out needs of the log and of memory, as ports: the room that knows Redis implements them. */
import type { Redis } from 'ioredis';
import type { ListName } from '../events/lists.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';

/**
 * Opens a connection for BullMQ or for a blocking read. It must be made with `maxRetriesPerRequest: null`: a blocked
 * command has to outlive a restart of Redis. Whoever asked for it closes it.
 */
export type Connect = () => Redis;

export interface LogReader {
  /** Events after `after` (exclusive; '0' is before all), oldest first, at most `count`. */
  read(workspace: string, after: string, count: number): Promise<LoggedEvent[]>;
  /** The id of the newest event; '0' when the log is empty. */
  tail(workspace: string): Promise<string>;
  /** Resolves true as soon as there is something after `after`, false after `timeoutMs` or when aborted. */
  waitForMore(workspace: string, after: string, timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  /** Closes the connections that waiting opened. */
  close(): Promise<void>;
}

/** How far each subscription has read each workspace's log. */
export interface OffsetStore {
  get(workspace: string, subscription: string): Promise<string | null>;
  set(workspace: string, subscription: string, logId: string): Promise<void>;
  /** Gives a new subscription its first place, once whoever asks first; the place it has by now is the answer. */
  begin(workspace: string, subscription: string, logId: string): Promise<string>;
}

/** An event on its way to one subscription, as the gate knows it. */
export interface Entry {
  workspace: string;
  logId: string;
  /** The id of its job: the event's, with the replay's behind it if one sent it. */
  eventId: string;
  /** The record whose events keep their order; null when the subscription does not ask for any. */
  group: string | null;
}

export interface Standing {
  /** `head`: may run. `behind`: its record's turn is another event's. `left`: handled or dead already. */
  standing: 'head' | 'behind' | 'left';
  /** False when the event had been entered before: a batch repeated after a crash. */
  fresh: boolean;
}

/** Somebody about to run an event, or done with it. */
export interface Claim extends Entry {
  /**
   * Tells one run of an event from every other, so that a run that lost its job to another cannot speak for it. Ends in
   * `/n`, the number of the job's start: of two runs the one started later counts, whoever asks last.
   */
  holder: string;
  /** A dead letter that is tried again: it goes to the end of its lane. */
  retried: boolean;
  /** Sent beside the log: it was given its place in the lane when it was entered. */
  backfilled?: boolean;
  /** Where a revived one stands, as `revive` told. */
  position?: string;
}

/** An event sent beside the log, with its number within its feed: texts that grow. */
export type MarkedEntry = Entry & { mark: string };

export type Reentry = { outcome: 'placed'; position: string } | { outcome: 'taken-over' };

export type Turn =
  | { outcome: 'go' }
  | { outcome: 'wait'; behind: string }
  | { outcome: 'left'; next: string | null }
  | { outcome: 'taken-over' };
export type Leave = { outcome: 'left'; next: string | null } | { outcome: 'taken-over' };
/** A held event keeps the head of its lane, and is no longer pending. */
export type Hold = { outcome: 'held' } | { outcome: 'taken-over' };

/** What a lane's head takes along. */
export interface Followers {
  /** Job ids of the events right behind the head, in order. */
  followers: readonly string[];
}

export interface Pending {
  /** Events entered and neither handled nor dead. */
  events: number;
  /** The log id of the oldest of them. */
  oldest: string | null;
}

/**
 * Keeps one record's events in order within one subscription: a queue (the lane) of events per record, in the order of
 * the log, of which only the head may run. Every operation may be repeated after a crash and then changes nothing.
 */
export interface RecordGate {
  /** Puts events, in the order of the log, at the end of their lanes; says of each where it stands. */
  enter(subscription: string, workspace: string, entries: readonly Entry[]): Promise<Standing[]>;
  /** Puts events of a feed (a replay, a snapshot) at the end of their lanes, in the order given; says of each where it stands. */
  enterBackfill(subscription: string, feed: string, entries: readonly MarkedEntry[]): Promise<Standing[]>;
  /**
   * Gives a dead letter that is tried again its place in its lane: once per life. Asked for by whoever had it tried again
   * (token null), so that of several the order is kept; or by whoever runs it, and holds its job by this token.
   */
  reenter(subscription: string, entry: Entry, by: { token: string | null; life: number }): Promise<Reentry>;
  /** May this event run now? If so, `holder` is from here on the only one who can make it leave. */
  turn(subscription: string, claim: Claim): Promise<Turn>;
  /** The event is handled or dead: the lane moves on. `next` is the event now at the head, if any. */
  leave(subscription: string, claim: Claim): Promise<Leave>;
  /** The event is dead, and its followers shall wait until it is tried again or dropped. */
  hold(subscription: string, claim: Claim): Promise<Hold>;
  /** The ids of the jobs right behind this head of a lane, in order; none when it is not the head. */
  followers(subscription: string, claim: Claim, most: number): Promise<string[]>;
  /**
   * Fixes what is merged into the head: the followers leave, and from the same moment its job carries `delivery`. It stays
   * the head.
   */
  merge(subscription: string, claim: Claim, merge: Followers & { delivery: Delivery }): Promise<Hold>;
  /** The head and the followers are handled: all of them leave at once. */
  leaveTogether(subscription: string, claim: Claim, company: Followers): Promise<Leave>;
  /** A dead letter is dropped: if it held its lane, the lane moves on. Answers the event then at the head. */
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

/** Remembers which side effects were begun and which are done. */
export interface OnceStore {
  /** `begun`: nobody had, and now this caller has. */
  begin(mark: OnceMark): Promise<'begun' | 'started' | 'done'>;
  finish(mark: OnceMark): Promise<void>;
  forget(mark: OnceMark): Promise<void>;
}

/**
 * What a subscription has to be sent beside the log, kept until it is: each task is one text under a name. Texts are
 * replaced by comparison, so that of two processes at the same task one goes on and the other looks again.
 */
export interface BackfillStore {
  /** All tasks of a subscription. */
  tasks(subscription: string): Promise<ReadonlyMap<string, string>>;
  /** Lays a task down, unless there is one of this name. */
  begin(subscription: string, name: string, text: string): Promise<void>;
  /** Replaces a task, or ends it (`to: null`). False when it is no longer what it was, and nothing was done. */
  move(subscription: string, step: TaskStep): Promise<boolean>;
  /** One chunk of a snapshot: its records, each at most once in the snapshot's life, and the task that comes after. */
  stage(subscription: string, workspace: string, chunk: TaskStep & StagedChunk): Promise<boolean>;
  /** The events of the chunk that is staged, as JSON. */
  staged(subscription: string, workspace: string): Promise<string[]>;
  /** The staged chunk is sent: it goes, and the task moves on. */
  unstage(subscription: string, workspace: string, step: TaskStep): Promise<boolean>;
  /** Of each record, the log's end when its image was read; null when it was not. */
  seen(subscription: string, workspace: string, records: readonly string[]): Promise<(string | null)[]>;
  /** Forgets what `seen` answers. */
  forgetSeen(subscription: string, workspace: string): Promise<void>;
}

export interface TaskStep {
  name: string;
  from: string;
  to: string | null;
}

export interface StagedChunk {
  /** The log's end when the images were read. */
  tail: string;
  /** Null where nothing is to be sent. */
  records: readonly { record: string; event: ChangeEvent | null }[];
}

/** How far the reading of a list's images is. Good for one life of the Redis server: its cursors die with it. */
export interface ScanPosition {
  cursor: string;
  server: string;
}

/** Some records of a list and the end of the log, as they were at the same moment. */
export interface Scan {
  /** Null when these were the last. */
  next: ScanPosition | null;
  tail: string;
  /** No `event` where the record is gone. What has no image is only counted. */
  records: readonly { key: string; event: ChangeEvent | null }[];
  withoutImage: number;
}

/**
 * `ready`: has a complete baseline. `waiting`: will have one. `off`: is not swept. `imageless`: keeps no images, so that
 * nobody can tell what its records look like.
 */
export type ListReadiness = 'ready' | 'waiting' | 'off' | 'imageless';

/** What the detector remembers, for snapshots. */
export interface SnapshotSource {
  readiness(workspace: string, lists: readonly ListName[]): Promise<ReadonlyMap<ListName, ListReadiness>>;
  /** A step through the records of a list; each comes at least once over all steps. */
  scan(workspace: string, list: ListName, from: ScanPosition | null): Promise<Scan>;
}

export interface WorkspaceTraces {
  keys: number;
  events: number;
  records: number;
}

/** What is kept of a workspace, to be removed. */
export interface TraceStore {
  /** Lists whose lease somebody holds. */
  sweeping(workspace: string): Promise<string[]>;
  /** Everything under the workspace's own keys, and the marks of `once`. */
  removeWorkspace(workspace: string): Promise<WorkspaceTraces>;
  /** Every subscription that anything is kept of, with the ids of its jobs that carry the workspace's events. */
  deliveries(workspace: string): Promise<Map<string, string[]>>;
  /** What keeps the order of a workspace's events within a subscription. */
  removeTraces(subscription: string, workspace: string, jobIds: readonly string[]): Promise<number>;
  /** What the queue tells about jobs that are no more. */
  removeNotices(subscription: string): Promise<number>;
}

/** Why a subscription gets nothing delivered. */
export interface Disabled {
  /** ISO 8601. */
  at: string;
  /** In words for a person. */
  reason: string;
  /** Events it had not read yet were dropped from the log by its retention. */
  missing: boolean;
}

export interface Health {
  /** The first of the failures without a success since, ms; a success after it is for the caller to know of. */
  failingSinceMs: number | null;
  /** Null: it is enabled. */
  disabled: Disabled | null;
}

export interface FailureNote {
  nowMs: number;
  /** When a try last succeeded; 0: not known of any. */
  succeededAtMs: number;
  /** How long it may go on before the subscription is disabled; 0: for ever. */
  disableAfterMs: number;
  /** Kept when it is disabled. */
  reason: string;
}

/** `disabling`: by this very call, and only by one. `disabled`: before. */
export type DisableOutcome = 'disabling' | 'disabled';

/** How each subscription fares, over all processes. */
export interface HealthStore {
  read(subscription: string): Promise<Health>;
  /** A try failed. Disables the subscription when it has failed for long enough. */
  failed(subscription: string, note: FailureNote): Promise<'failing' | DisableOutcome>;
  disable(subscription: string, because: { atMs: number; reason: string }): Promise<DisableOutcome>;
  /** Forgets its failures too. Answers how it was disabled, if it was. */
  enable(subscription: string): Promise<Disabled | null>;
  /** Retention dropped events that a disabled subscription has not read. Answers true the first time. */
  missed(subscription: string): Promise<boolean>;
}

/** What travels in a BullMQ job of a subscription's queue. */
export interface Delivery {
  event: ChangeEvent;
  workspace: string;
  logId: string;
  /** As it was when the event was entered: a changed `order` holds for events read from then on. */
  group: string | null;
  /** The replay that sent it, if one did. */
  replay?: string;
  /**
   * With `settle`: it has been decided what is merged into `event`, which may carry an id of its own by now. This is the
   * id it was entered under, by which its job is called.
   */
  mergedUnder?: string;
  /** Present: it is the first a new subscription hears of the record (`start: 'snapshot'`). */
  snapshot?: true;
}
