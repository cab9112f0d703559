/** The ports through which the dispatcher and the workers use Redis. `src/state` implements them. */
import type { ListName } from '../crm/lists/lists.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Redis } from '../redis/client.js';
import type { BackfillTask, SnapshotTask } from './backfill-task.js';
import type { FailedAttempt } from './failure.js';
import type { SubscriptionStatus } from './subscription-status.js';

/**
 * Opens a connection for BullMQ or for a blocking read. It must use `maxRetriesPerRequest: null`, so that a blocked command
 * survives a restart of Redis. The caller closes it.
 */
export type Connect = () => Redis;

export interface LogReader {
  /**
   * Events after `after` (exclusive; '0' is before all), oldest first, at most `count`. Fewer where they are large; none only at the end of
   * the log.
   */
  read(workspace: string, after: string, count: number): Promise<LoggedEvent[]>;
  tail(workspace: string): Promise<string>;
  /** The time of the server, which gives the entries of the log their ids; ms. */
  serverMs(): Promise<number>;
  event(workspace: string, logId: string): Promise<LoggedEvent | null>;
  /** True as soon as there are events after `after`; false after `timeoutMs` or when aborted. */
  waitForMore(workspace: string, after: string, timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  /** Closes the connections that `waitForMore` opened. */
  close(): Promise<void>;
}

export interface OffsetStore {
  get(workspace: string, subscription: string): Promise<string | null>;
  /** Moves the offset to `to`, unless it is no longer `from`: then the stored one is right. */
  advance(workspace: string, subscription: string, move: { from: string; to: string }): Promise<void>;
  /** Sets the first offset of a new subscription. If another process has set one already, that one stays. Returns the stored offset. */
  begin(workspace: string, subscription: string, logId: string): Promise<string>;
}

export interface GroupEntry {
  /** The id of the delivery and of its job: see deliveries.ts. */
  id: string;
  logId: string;
  atMs: number;
  /**
   * `logged`: its event is in the log. `stored`: its event is stored with the group. `decided`: stored, and no longer merged with others
   * (debounce).
   */
  kind: 'logged' | 'stored' | 'decided';
  type: string;
}

export interface StoredEvent {
  event: ChangeEvent;
  /** The attempts of a dead letter before it was retried. */
  earlierAttempts?: readonly FailedAttempt[];
}

export interface Delivery extends StoredEvent {
  id: string;
  workspace: string;
  logId: string;
}

export interface NewEntry extends GroupEntry {
  /** The ordering group: the record whose events stay in order. Null when the subscription has no order. */
  group: string | null;
  /** Its number within its source, in the form of a log id. */
  serial: string;
  stored?: StoredEvent;
  /** The id of a dead letter: if it is held as the head of the group, this entry takes its place. */
  replaces?: string;
}

/** Deliveries of one source, with ascending serials. A repeated batch of a source changes nothing. */
export interface SourceBatch {
  workspace: string;
  /** The workspace's log, a replay, a snapshot, or the retry of one dead letter. */
  source: string;
  /**
   * What told the caller what to read: the offset in the log, or the task of a replay or snapshot by its name, as they were stored then. If
   * another is stored now, nothing is entered: another dispatcher has gone on, or Redis has gone back to an earlier state, and what it has
   * forgotten must be read again first. Null: the batch depends on nothing.
   */
  readAt: { offset: string } | StoredTask | null;
  entries: readonly NewEntry[];
}

/** One run of a delivery. */
export interface Claim {
  workspace: string;
  group: string | null;
  id: string;
  /** The token of BullMQ's lock on the job: it proves that this run still holds the job. Empty for a dead letter, which has no run. */
  token: string;
}

/** `left`: the delivery has left its group; `next` is the head now. */
type HasLeft = { outcome: 'left'; next: GroupEntry | null };
/** `head`: it is pending, and its turn has come. Without an order there are no entries. */
export type Standing = { outcome: 'head'; entries: readonly GroupEntry[] } | HasLeft;
export type AdvanceOutcome = HasLeft | { outcome: 'taken-over' };
export type HoldOutcome = { outcome: 'held' } | AdvanceOutcome;

/** The head of an ordering group, or an event without an order. */
export interface HeadJob {
  workspace: string;
  group: string | null;
  entry: GroupEntry;
}

/** A delivery that must have a job. Without an order, `kind` and `type` are not known, and the log id may be just before the event's. */
export interface MustHaveJob extends HeadJob {
  /** It is a dead letter, which keeps its failed job. */
  held: boolean;
}

/**
 * Keeps the events of one record in order within one subscription. Each record has an ordering group: a list of its deliveries, of which
 * the head alone has a job. Every operation can be repeated after a crash without further effect.
 */
export interface RecordGate {
  /**
   * Appends deliveries to their groups, in the order given. `heads`: for each entry, whether it is the head of its group, so that its job must
   * be added; empty when nothing was entered because of `readAt`.
   */
  enter(subscription: string, batch: SourceBatch): Promise<{ heads: readonly boolean[]; pending: number }>;
  /** The first entries of the group, at most `most`, if this delivery is its head. */
  standing(subscription: string, claim: Claim, most?: number): Promise<Standing>;
  /** The head and the entries behind it are handled or dead: `count` of them leave in one step. */
  advance(subscription: string, claim: Claim, count?: number): Promise<AdvanceOutcome>;
  /** The head is dead and stays, and its followers wait until it is retried or dropped. */
  hold(subscription: string, claim: Claim): Promise<HoldOutcome>;
  /** In one step, the `count` entries behind the head leave, and the head becomes `head` with the event given. */
  merge(
    subscription: string,
    claim: Claim,
    merge: { count: number; head: GroupEntry; stored: StoredEvent },
  ): Promise<{ outcome: 'head' } | AdvanceOutcome>;
  stored(subscription: string, id: string): Promise<StoredEvent | null>;
  /**
   * Deliveries entered and neither handled nor dead. `oldest` is the log id of the oldest, or just before it; `oldestMs` is when it was logged,
   * and of a snapshot from before the log when it was entered.
   */
  pending(
    subscription: string,
    workspace: string,
  ): Promise<{ events: number; oldest: string | null; oldestMs: number | null; oldestId: string | null }>;
  /**
   * Every delivery of these workspaces that must have a job. It is not a snapshot: a delivery that leaves during the call, with or without an
   * order, may still be returned. Searches all keys of Redis.
   */
  heads(subscription: string, workspaces: readonly string[]): Promise<readonly MustHaveJob[]>;
}

export interface OnceMark {
  subscription: string;
  workspace: string;
  eventId: string;
  key: string;
}

export interface OnceStore {
  /** `begun`: this call has started it. `started`: an earlier call did, and its end is unknown. */
  begin(mark: OnceMark): Promise<'begun' | 'started' | 'done'>;
  finish(mark: OnceMark): Promise<void>;
  forget(mark: OnceMark): Promise<void>;
}

/** A task as it was read. Tasks change by compare-and-set: of two processes at the same task, one succeeds and the other reads it again. */
export interface StoredTask<Task = BackfillTask> {
  name: string;
  text: string;
  task: Task;
}

/** The backfills (replays and snapshots) of a subscription that are not finished. */
export interface BackfillStore {
  tasks(subscription: string): Promise<readonly StoredTask[]>;
  /** Stores a task unless it is stored already; a workspace has one snapshot. */
  begin(subscription: string, task: BackfillTask): Promise<void>;
  /** Replaces a task, or deletes it (`to: null`). False when another one is stored by now; then nothing was done. */
  step(subscription: string, from: StoredTask, step: TaskStep): Promise<boolean>;
  staged(subscription: string, workspace: string): Promise<ChangeEvent[]>;
  /** For each record, the end of the log when a snapshot read its image; null when none did. */
  imagesReadAt(subscription: string, workspace: string, records: readonly string[]): Promise<(string | null)[]>;
  forgetImagesRead(subscription: string, workspace: string): Promise<void>;
}

export interface TaskStep {
  to: BackfillTask | null;
  /**
   * In the same step, one chunk of a snapshot is staged (each record at most once per snapshot; `event` is null where nothing is to be sent), or
   * is deleted because it was `sent`. `discarded`: all that an earlier snapshot has staged or read is deleted.
   */
  staged?: { tail: string; records: readonly { record: string; event: ChangeEvent | null }[] } | 'sent' | 'discarded';
}

export type ScanPosition = NonNullable<NonNullable<SnapshotTask['reading']>['from']>;

/** Some records of a list and the end of the log, read at the same moment. */
export interface Scan {
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

export interface SnapshotSource {
  /** @param since a list counts as `waiting` until a sweep that began later is complete; ISO 8601. @defaultValue any sweep will do */
  readiness(
    workspace: string,
    lists: readonly ListName[],
    since?: string,
  ): Promise<ReadonlyMap<ListName, ListReadiness>>;
  /**
   * One step through the records of a list. Over all steps, each record comes at least once.
   * @param least events have at least this sequence. @defaultValue 0
   */
  scan(workspace: string, list: ListName, from: ScanPosition | null, least?: number): Promise<Scan>;
}

/** A key of Redis, or some fields of a hash. */
export interface Trace {
  key: string;
  /** @defaultValue the whole key */
  fields?: readonly string[];
}

/** Finds everything that is stored for a workspace or a subscription. What is empty has no traces. */
export interface TraceStore {
  /** Lists that are being swept: a process holds their lease. */
  sweeping(workspace: string): Promise<string[]>;
  sizes(workspace: string): Promise<{ events: number; records: number }>;
  subscriptions(): Promise<string[]>;
  /** The workspace's own keys, and the marks of `once`. */
  ofWorkspace(workspace: string): Promise<Trace[]>;
  /** The ordering state of a workspace's events in a subscription. */
  ofWorkspaceIn(subscription: string, workspace: string): Promise<Trace[]>;
  /** A subscription's queue, and its offsets in every log. */
  ofSubscription(subscription: string): Promise<Trace[]>;
  /** Returns the number of keys and fields that were there. */
  remove(traces: readonly Trace[]): Promise<number>;
}

/** What the dispatcher uses of Redis. */
export interface DispatchStores {
  log: LogReader;
  offsets: OffsetStore;
  gate: RecordGate;
  backfills: BackfillStore;
  source: SnapshotSource;
  health: HealthStore;
}

/** What the handlers' processes use of Redis. */
export interface DeliveryStores {
  log: LogReader;
  gate: RecordGate;
  once: OnceStore;
  health: HealthStore;
}

export type Disabled = NonNullable<SubscriptionStatus['disabled']>;
/** It may name records, so it is shown and removed with its workspace. */
type LastError = NonNullable<SubscriptionStatus['lastError']>;

export interface Health {
  /** The first failure since the last recorded success, ms. Successes are not recorded here: the caller compares with the last one. */
  failingSinceMs: number | null;
  /** Failed attempts since then, and the message of the last one. */
  failures: number;
  lastError: LastError | null;
  disabled: Disabled | null;
}

/** `disabling`: this call has disabled it (true for one call only). `disabled`: it was disabled before. */
export type DisableOutcome = 'disabling' | 'disabled';

interface FailureNote {
  nowMs: number;
  /** When an attempt last succeeded; 0: no success is known. */
  succeededAtMs: number;
  /** How long failures may go on before the subscription is disabled; 0: without limit. */
  disableAfterMs: number;
  reason: string;
  error: LastError;
}

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
export interface JobData extends Omit<HeadJob, 'entry'>, Pick<GroupEntry, 'kind' | 'logId'> {
  /** The job is a dead letter, or is about to become one. It carries its event: the log may drop it. */
  death?: StoredEvent & { failure: FailedAttempt };
}

/**
 * The progress of a BullMQ job: written when an attempt begins as the only suspect. Not in its data: a process that lost the job while it wrote this would
 * overwrite a death.
 */
export interface Alone {
  attempt: number;
  /** BullMQ's count of lost processes at that time. */
  lostBefore: number;
  /** How many of them were lost during such attempts. */
  crashes: number;
}
