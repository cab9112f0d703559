/** The methods of the public object. The actions of this folder call them. */
import type { RequestListener } from 'node:http';
import type { Role } from '../../workers/all.js';
import type { ListSweep, SweepCall } from '../../workers/sweeps.js';
import type { WorkspaceInput } from '../config/schema.js';
import type { ListName } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import type { TodoRows, TodosReport } from '../crm/todo-counts.js';
import type { Consumers } from '../delivery/pull/consumers.js';
import type { DeadLetters } from '../delivery/act/dead-letters.js';
import type { WaitOptions, WaitResult } from '../delivery/dispatcher.js';
import type { TestOutcome } from '../delivery/handlers/handler.js';
import type { Paused } from '../delivery/health.js';
import type { DeliveryRow, SubscriptionDetails } from '../delivery/receipts/delivery-row.js';
import type { DeliveriesQuery } from '../delivery/receipts/find-deliveries.js';
import type { ReplayCall, Replayed } from '../delivery/act/replay.js';
import type { SkipCall, Skipped, StoppedReplays } from '../delivery/act/skip.js';
import type { TailedEvent, TailOptions } from '../delivery/ask/tail.js';
import type { TryCall } from '../delivery/ask/try.js';
import type { Tried } from '../delivery/ask/tried.js';
import type { Copy } from '../delivery/verify/copy.js';
import type { Verified } from '../delivery/verify/verified.js';
import type { VerifyOptions } from '../delivery/verify/verify.js';
import type { RecordHistory } from '../feed/history/record-history.js';
import type { RestoreStep } from '../feed/history/restore-plan.js';
import type { TodosCall } from '../feed/todos/report.js';
import type { TodoRowsCall } from '../feed/todos/rows.js';
import type { Overview } from '../log/overview.js';
import type { Usage } from '../log/usage.js';
import type { AuditEntry, AuditQuery } from '../ops/audit.js';
import type { EraseCall, Erased } from '../ops/forgetting/erase.js';
import type { Forgotten, ForgottenSubscription, StoredSubscription } from '../ops/forgetting/forget.js';
import type { Status } from '../ops/watch/status.js';
import type { OpenedRedis } from '../redis/private/open.js';
import type { FindQuery, Inspector } from './inspector.js';

/** Which workspace a hint concerns. */
export interface HintOptions {
  /** @defaultValue the only workspace */
  workspace?: string | undefined;
}

/** A test event. */
export interface TestCall {
  /** The event type. @defaultValue the first one that the subscription selects; webhook: `changefeed.test`, which is no event of the CRM */
  type?: string | undefined;
  /** A handler written in code is run only with this: it may do anything. @defaultValue false */
  run?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Removes what is stored: of a workspace, of one record, or of a subscription that is no longer configured. */
export interface Forgetting {
  /**
   * Removes everything Redis keeps of a workspace, even if the configuration does not name it: records, log, positions, and its events
   * in the subscriptions' queues, dead letters included. What handlers delivered stays where it is. May be repeated. Waits for handlers
   * that are handling its events.
   * @throws ChangefeedError CF_WORKSPACE_BUSY while a process sweeps it, CF_USAGE
   */
  forget(workspace: string): Promise<Forgotten>;
  /**
   * Erases one record: what is stored of it, its events in the log, what waits of them, dead letters, receipts, and its rows in tables of
   * `postgres`. It is kept out from then on, also while the CRM still shows it. May be repeated. Waits for handlers that are handling its events.
   * @throws ChangefeedError CF_USAGE when there is no such workspace or list
   */
  erase(call: EraseCall): Promise<Erased>;
  /**
   * Whether Redis keeps anything of a workspace that `forget` would remove.
   * @throws ChangefeedError CF_USAGE
   */
  isStored(workspace: string): Promise<boolean>;
  /** Every subscription for which anything is stored, configured or not. */
  storedSubscriptions(): Promise<StoredSubscription[]>;
  /**
   * Removes everything stored for a subscription that the configuration no longer has and no process handles.
   * @throws ChangefeedError CF_USAGE
   */
  forgetSubscription(subscription: string, options?: { dryRun?: boolean }): Promise<ForgottenSubscription>;
  /** Decides that the rules of a file that is missing are gone: from then on, there are none. @returns how many; 0: none are missing */
  forgetMissingRules(): Promise<{ count: number }>;
}

/** A person who may sign in to the status page. */
export interface Invitation {
  /** As the audit and the page name them. */
  name: string;
  /** `read`: sees everything; `operate`: may act too. */
  role: 'read' | 'operate';
  /** ISO 8601: when they were invited. */
  since: string;
  /** ISO 8601: their token opens nothing any more from then on. */
  until: string;
  /** They see this workspace and nothing else. @defaultValue all */
  workspace?: string | undefined;
}

/** People with a token of their own for the status page, beside `http.tokens`. Every process knows of a change within seconds. */
export interface Invitations {
  /**
   * Makes a token, which cannot be shown again: only a digest of it is stored.
   * @param call `role`: defaults to `read`; `workspace`: they read this one, and nothing else exists for them; `expires`: a duration from `1m` to `366d`, by default `90d`
   * @returns `link` signs in. `reach`: it goes to `http.publicUrl` (`public`), to the address of the page, or only `this machine` can open it
   * @throws ChangefeedError CF_USAGE also for a name that is invited already, and where no page is served or a proxy alone signs in
   */
  add(call: {
    name: string;
    role?: Invitation['role'] | undefined;
    workspace?: string | undefined;
    expires?: string | undefined;
  }): Promise<Invitation & { token: string; link: string; reach: 'public' | 'address' | 'this machine' }>;
  list(): Promise<Invitation[]>;
  /** Ends a token and its sessions. @returns whether there was one of this name */
  revoke(name: string): Promise<boolean>;
}

/** A workspace of the configuration, or one that came at run time. Its token is never shown. */
export interface HostedWorkspace {
  name: string;
  /** Null: what is stored of it cannot be read. */
  baseUrl: string | null;
  from: 'configuration' | 'run time';
  /** Only an `active` one is polled. `removed`: it can be put back until `eraseAt`; `erasing`: not any more. */
  state: 'active' | 'paused' | 'removed' | 'erasing';
  /** ISO 8601: since when it is in this state; null: it is in the configuration. */
  since: string | null;
  /** ISO 8601: when everything of it is erased; null: it stays. */
  eraseAt: string | null;
  /** Why it does not run as it was put; null where it does. */
  problem: string | null;
}

/**
 * Workspaces that come and go while the service runs. Every process takes a change over within 2 s, and no other workspace notices. Tokens are
 * stored encrypted with `key` of the configuration (`CHANGEFEED_KEY`); without one, each change is rejected with CF_USAGE.
 */
export interface HostedWorkspaces {
  /**
   * Adds a workspace, or replaces its options: those of a workspace of the configuration. One that was removed goes on where it was.
   * @param options without `token`, it keeps the one it has had for the same `baseUrl`
   * @throws ChangefeedError CF_CONFIG_INVALID, CF_USAGE also for a name of the configuration, CF_WORKSPACE_BUSY while it is erased
   */
  put(name: string, options: WorkspaceInput): Promise<HostedWorkspace & { did: 'created' | 'changed' | 'put back' }>;
  /** Gives it another token. @throws ChangefeedError CF_USAGE, CF_CONFIG_INVALID */
  rotate(name: string, token: string): Promise<HostedWorkspace>;
  /** Stops polling; what was found is delivered. @throws ChangefeedError CF_USAGE */
  pause(name: string): Promise<HostedWorkspace>;
  /** @throws ChangefeedError CF_USAGE */
  resume(name: string): Promise<HostedWorkspace>;
  /**
   * Stops polling at once, delivers what is under way, and after seven days erases everything of it.
   * @param options `now`: erases it now, with what waits for subscriptions
   * @returns `keys`: how many keys of Redis were erased; null: not yet
   * @throws ChangefeedError CF_USAGE, CF_WORKSPACE_BUSY
   */
  remove(name: string, options?: { now?: boolean | undefined }): Promise<HostedWorkspace & { keys: number | null }>;
  /** All, by name: those of the configuration too. */
  list(): Promise<HostedWorkspace[]>;
}

/** What a record was, and who changed it. */
export interface Histories {
  /**
   * The changes of one record, newest first: fields with before and after, when, who.
   * @throws ChangefeedError CF_USAGE when there is no such workspace or list, or it has no history
   */
  history(call: HistoryCall): Promise<RecordHistory>;
  /**
   * A list as it was at a time: the records that were in it, with the values that they had, in no order. Changes that were observed later are
   * undone, so it is exact between the sweeps. Its memory does not grow with the list.
   * @param at a time; without a zone, of the workspace
   * @throws ChangefeedError CF_USAGE also where the history does not reach back so far
   */
  recordsAsOf(
    list: ListName,
    at: string,
    options?: { workspace?: string | undefined } & Pick<FindQuery, 'where' | 'names'>,
  ): AsyncGenerator<CrmRecord, void, undefined>;
  /** What would have to be set back to undo the changes of a period. Nothing is written. @throws ChangefeedError CF_USAGE */
  restorePlan(call: RestorePlanCall): AsyncGenerator<RestoreStep, void, undefined>;
  /** ISO 8601: since when every change of a list is kept; null: none is. */
  historySince(list: ListName, workspace?: string): Promise<string | null>;
}

/** Which days are counted. */
export interface OverviewCall {
  /** So many, today included; 1 to 366. @defaultValue 7 */
  days?: number | undefined;
  /** @defaultValue all */
  workspace?: string | undefined;
}

/** Which days of which workspaces. */
export interface UsageCall {
  /** So many, today included; 1 to 400. @defaultValue 30 */
  days?: number | undefined;
  /** @defaultValue all */
  workspace?: string | undefined;
}

/** Which changes of which record. */
export interface HistoryCall {
  list: ListName;
  id: string;
  /** @defaultValue the only workspace */
  workspace?: string | undefined;
  /** At most so many, 1 to 1,000. @defaultValue 50 */
  limit?: number | undefined;
  /** `next` of the answer before. @defaultValue the newest */
  before?: string | undefined;
  /** The record as it was then, and the changes up to then; without a zone, of the workspace. @defaultValue as it is now */
  asOf?: string | undefined;
}

/** Which changes would be set back. */
export interface RestorePlanCall {
  list: ListName;
  /** Times, both included; without a zone, of the workspace. */
  from: string;
  /** @defaultValue now */
  to?: string | undefined;
  /** Who made the changes: `user`, `workflow`, `sequence`, `api`, `field`, `unknown`, an id, or part of a name. @defaultValue all */
  by?: string | undefined;
  /** @defaultValue the only workspace */
  workspace?: string | undefined;
}

/**
 * A feed that was opened: it runs the roles, and answers questions about what it has found and delivered.
 * After `stop`, every call is rejected with CF_STOPPED.
 */
export interface Changefeed extends Forgetting, Histories {
  /** `named` in the configuration, or a `private` process. */
  readonly redisOrigin: OpenedRedis['origin'];
  /** The address of the status page; null while none is served. */
  readonly pageUrl: string | null;
  /** The address with the token that was made for it: for the person who starts the process, not for logs. Null with `http.tokens` or `http.trustedProxy`. */
  readonly pageLink: string | null;
  /**
   * With a path as `http`: answers a request under it. It is a handler of `node:http`, and in Express `app.use('/changefeed', feed.handler)`.
   * Tokens of the configuration protect the page as they do on a port of its own.
   */
  readonly handler: RequestListener;
  /**
   * Starts the roles, all by default. A second call gives the promise of the first.
   * @throws ChangefeedError CF_REDIS_UNREACHABLE, CF_REDIS_EVICTS
   */
  start(roles?: readonly Role[]): Promise<void>;
  /**
   * Stops everything, closes every connection, and stops a private Redis that no other living process uses. It does not wait for a
   * Redis that does not answer.
   * @throws ChangefeedError CF_STOP_TIMEOUT naming what did not stop, or what was under way while Redis did not answer
   */
  stop(): Promise<void>;
  /**
   * One complete sweep of each list. A list that could not be completed is reported as incomplete; the others go on.
   * @throws ChangefeedError CF_REDIS_UNREACHABLE, CF_REDIS_EVICTS
   */
  sweep(call?: SweepCall): Promise<ListSweep[]>;
  /** Waits until every event now in the log is handled or a dead letter, for every subscription. */
  waitUntilHandled(options: WaitOptions): Promise<WaitResult>;
  /** Reads the log of events, and follows it as it grows. */
  tail(options?: TailOptions): AsyncGenerator<TailedEvent, void, undefined>;
  /** Events that could not be handled. A retried one is handled by any process with the role `handle`. */
  readonly deadLetters: DeadLetters;
  /**
   * Who got an event, when, after how many attempts, with what answer: one row for each ended attempt, newest first. For one event, every
   * subscription has a row, also one that it was not for, or where it waits.
   * @throws ChangefeedError CF_USAGE
   */
  deliveries(query?: DeliveriesQuery): Promise<DeliveryRow[]>;
  /**
   * Where a subscription delivers, what it selects, and how its deliveries of the last hour went.
   * @throws ChangefeedError CF_USAGE
   */
  describeSubscription(subscription: string): Promise<SubscriptionDetails>;
  /**
   * Sends a range of the log to one subscription again: the same events with the same ids, `replay: true` in the
   * handler's context, in order per record. Resolves when all are in the queue. A consumer (`pull`) is set back to `from`.
   * @throws ChangefeedError CF_USAGE
   */
  replay(call: ReplayCall): Promise<Replayed>;
  /**
   * Stops replays of a subscription, and drops what of them waits in its queue.
   * @param id of one replay. @defaultValue all
   * @throws ChangefeedError CF_USAGE when there is no such subscription
   */
  stopReplay(subscription: string, id?: string): Promise<StoppedReplays>;
  /**
   * What a subscription would have got of the last days of the log, with its present options, and why it would not have got the rest.
   * Nothing is sent and nothing is stored. `settle`, `transform` and what the handler would do are not tried.
   * @throws ChangefeedError CF_USAGE when there is no such subscription, or `last` is no duration
   */
  try(subscription: string, call?: TryCall): Promise<Tried>;
  /**
   * Compares a receiver's copy with what the CRM showed last, record by record. Without `copy`, the tables of a `postgres` subscription are read.
   * Nothing is sent, unless `repair` asks for it. `status` shows the counts of the last comparison.
   * @param copy the path of a file, or one row for each record: `{ list, id, sequence }`, with `deleted` where the receiver keeps what is gone.
   * What is logged after the call counts as on its way
   * @throws ChangefeedError CF_USAGE when there is no such subscription or workspace, a row cannot be used, or there is no copy to read;
   * CF_DATABASE_FAILED
   */
  verify(subscription: string, copy?: Copy, options?: VerifyOptions): Promise<Verified>;
  /**
   * Sends one subscription the current state of every record, as `afterRewind: 'snapshot'` does: after a backup of Redis was restored. Processes with
   * the role `dispatch` send it, list by list, once a list has been swept on this server. Its changes go on meanwhile.
   * @param workspace @defaultValue all that it reads
   * @returns the workspaces whose records are sent
   * @throws ChangefeedError CF_USAGE when there is no such subscription or workspace
   */
  snapshot(subscription: string, workspace?: string): Promise<string[]>;
  /**
   * Sends one example event of a type to the handler of a subscription, as `changefeed webhook test` does. Its subject is `test`. It is
   * not logged, retried or noted.
   * @throws ChangefeedError CF_USAGE when there is no such subscription or type, and for a handler in code unless `run` is true
   */
  test(subscription: string, call?: TestCall): Promise<TestOutcome>;
  /**
   * Drops everything that waits for a subscription: what it has not read of the log, what is in its queue, planned retries, and the rest of replays. What is
   * handled at this moment ends; dead letters stay; what is logged later is delivered. May be repeated after an interruption.
   * @throws ChangefeedError CF_USAGE when there is no such subscription
   */
  skip(subscription: string, call?: SkipCall): Promise<Skipped>;
  /**
   * Stops the deliveries to a subscription in all processes until it is resumed. Its events wait in its queue and in the
   * log, there as long as `log.retention` allows. Returns false when it was already paused.
   * @param reason shown in `status` @defaultValue 'paused manually'
   * @throws ChangefeedError CF_USAGE
   */
  pause(subscription: string, reason?: string): Promise<boolean>;
  /**
   * Resumes a paused subscription. It continues where it stopped, in order. Returns how it was paused; null when it was not.
   * @throws ChangefeedError CF_USAGE
   */
  resume(subscription: string): Promise<Paused | null>;
  /**
   * Names records that may have changed: their pages are fetched next, by whichever process polls the list. Only what the list then
   * shows becomes an event. Ids that are not known ask for new records of the list.
   * @param ids at most 1,000
   * @throws ChangefeedError CF_USAGE when there is no such workspace or polled list, or the ids cannot be used
   */
  hint(list: ListName, ids: readonly string[], options?: HintOptions): Promise<void>;
  /**
   * Freshness, budget, queues, dead letters, processes and problems: what `changefeed status` prints.
   * @param of only what is of one workspace; the numbers of subscriptions are of all
   * @throws ChangefeedError CF_USAGE when there is no such workspace
   */
  status(of?: { workspace?: string | undefined }): Promise<Status>;
  /**
   * Counts the stored todos.
   * @throws ChangefeedError CF_USAGE when there is no such workspace or time, or todos are disabled
   */
  todos(call?: TodosCall): Promise<TodosReport>;
  /**
   * How many edits there were, by day and kind, person in charge, and field, beside as many days before. The counts are stored with the events
   * of the log, and kept for 400 days: no event is read. Records that were erased stay counted.
   * @throws ChangefeedError CF_USAGE when there is no such workspace, or `days` is not such a number
   */
  overview(call?: OverviewCall): Promise<Overview>;
  /**
   * What each workspace used, by day in its time zone: requests, rows and bytes read from the CRM, events, deliveries. Kept for 400 days. A process
   * adds its counts every 5 s and when it stops: one that is killed loses the last seconds.
   * @throws ChangefeedError CF_USAGE when there is no such workspace, or `days` is not such a number
   */
  usage(call?: UsageCall): Promise<Usage>;
  /**
   * The stored todos behind a number of `todos`, in an order. No request is sent to the CRM.
   * @throws ChangefeedError CF_USAGE as `todos`, and for a limit or sort that is not allowed
   */
  listTodos(call: TodoRowsCall): Promise<TodoRows>;
  /** Who did what, newest first: decisions made on the page, by its API and by commands; refusals and sign-ins. Calls in code are not among them. */
  audit(query?: AuditQuery): Promise<AuditEntry[]>;
  /** Asks for the events of subscriptions with `handler: 'pull'`, within this process; another one asks by `crm-changefeed/client` or HTTP. */
  readonly consumers: Consumers;
  /** Who may sign in to the status page with a token of their own. */
  readonly invites: Invitations;
  /** Workspaces that come and go while the service runs. */
  readonly workspaces: HostedWorkspaces;
  /** Questions and decisions about single lists. */
  readonly lists: Inspector;
}
