/**
 * The public object: a configuration in, a Changefeed out. `openChangefeed` makes the parts of a process, in this order: the app context
 * (Redis, log, clock), the workspaces (API client, stores, rules), the four roles (`workers/`), and the HTTP
 * server. `start` runs the watch of Redis, the report of problems, the HTTP server and then the wanted roles; `stop` stops them in reverse.
 */
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createWorkers, ROLES, type Role } from '../../workers/all.js';
import type { Budget } from '../feed/api/budget.js';
import { checkedConfig } from '../config/parse.js';
import type { Config, ConfigInput } from '../config/schema.js';
import { problemOfIds } from '../crm/hint.js';
import type { ListName } from '../crm/lists/lists.js';
import type { DeadLetters } from '../delivery/dead-letters.js';
import type { DeliveryRow, SubscriptionDetails } from '../delivery/receipts/delivery-row.js';
import type { DeliveriesQuery } from '../delivery/receipts/find-deliveries.js';
import type { Dispatcher, WaitOptions, WaitResult } from '../delivery/dispatcher.js';
import type { Paused } from '../delivery/health.js';
import type { ReplayCall, Replayed } from '../delivery/replay.js';
import type { SkipCall, Skipped } from '../delivery/skip.js';
import type { TailedEvent, TailOptions } from '../delivery/tail.js';
import type { TryCall } from '../delivery/try.js';
import type { Tried } from '../delivery/tried.js';
import type { Copy } from '../delivery/verify/copy.js';
import type { Verified } from '../delivery/verify/verified.js';
import type { VerifyOptions } from '../delivery/verify/verify.js';
import { ChangefeedError, usage } from '../kit/errors.js';
import { createPrometheus, unmeasured } from '../ops/prometheus.js';
import type { Status } from '../ops/status.js';
import { systemClock, type Clock } from '../kit/clock.js';
import type { OpenedRedis } from '../redis/private/open.js';
import { silentLog, type Log } from '../kit/log.js';
import { stopWithRedis } from '../redis/stop-with-redis.js';
import { refuseOtherFormat } from '../log/state-guard.js';
import type { TodosReport } from '../crm/todo-counts.js';
import { reportTodos, type TodosCall } from '../feed/todos/report.js';
import { logConfigWarnings, type ConfigWarning } from './config-warnings.js';
import { openContext, type AppContext } from '../../workers/context.js';
import { forgetting, type Forgetting } from './forgetting.js';
import { httpPart } from './http.js';
import { createInspector, type Inspector } from './inspector.js';
import { presence } from './presence.js';
import { readStatus } from './status.js';
import { sweepNow, type ListSweep, type SweepCall } from '../../workers/sweeps.js';
import { reportedTodos } from '../../workers/todos.js';
import { sendTest, type TestCall } from './test-event.js';
import type { TestOutcome } from '../delivery/handlers/handler.js';
import { createWorkspaces, listIn, type Workspace, type Workspaces } from '../../workers/workspaces.js';

/** Which workspace a hint concerns. */
export interface HintOptions {
  /** @defaultValue the only workspace */
  workspace?: string | undefined;
}

/** What `openChangefeed` takes. */
export interface ChangefeedOptions {
  /** What `defineConfig`, `loadConfig` or `parseConfig` returns. It is checked if it has not been. */
  config: ConfigInput | Config;
  /** Where a private Redis keeps its data when the configuration names none. @defaultValue `.changefeed` in the working directory */
  stateDir?: string;
  /** The private Redis removes its state directory when all processes that use it have ended. @defaultValue false */
  temporary?: boolean;
  /** @defaultValue nothing is logged */
  log?: Log;
  clock?: Clock;
  /**
   * While roles run: registers the process, watches for problems, logs them and reports them by events.
   * @defaultValue true
   */
  reportsProblems?: boolean;
  /**
   * While roles run: serves the status page, its API, and `/metrics`, `/healthz` and `/readyz`. `true`: on a port of its own, as `http` of the
   * configuration says. A path, such as `'/changefeed'`: under this path of your own server, which hands its requests to `handler`.
   * @defaultValue false
   */
  http?: boolean | `/${string}`;
  /** Tries per page of the API, the first included, before a sweep is incomplete. @defaultValue 8 */
  attempts?: number;
  /** When the configuration was read, ms since the epoch: a new subscription with `start: 'now'` begins then. @defaultValue now */
  configReadAtMs?: number;
  /** Ends the wait for a Redis that does not answer while it is opened. Later it has no effect. */
  signal?: AbortSignal | undefined;
}

/** A feed that was opened: it runs the roles, and answers questions about what it has found and delivered. */
export interface Changefeed extends Forgetting {
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
   * handler's context, in order per record. Resolves when all are in the queue.
   * @throws ChangefeedError CF_USAGE
   */
  replay(call: ReplayCall): Promise<Replayed>;
  /**
   * Stops replays of a subscription. What they have put into its queue is still delivered; `skip` drops that too.
   * @param id of one replay. @defaultValue all
   * @returns how many were stopped, one for each workspace
   * @throws ChangefeedError CF_USAGE when there is no such subscription
   */
  stopReplay(subscription: string, id?: string): Promise<number>;
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
  /** Freshness, budget, queues, dead letters, processes and problems: what `changefeed status` prints. */
  status(): Promise<Status>;
  /**
   * Counts the stored todos.
   * @throws ChangefeedError CF_USAGE when there is no such workspace or time, or todos are disabled
   */
  todos(call?: TodosCall): Promise<TodosReport>;
  /** Questions and decisions about single lists. */
  readonly lists: Inspector;
}

/**
 * Opens Redis (the configured one, otherwise a private one) and makes the parts. Nothing runs before `start` or `sweep`. A configuration
 * can be given alone. No environment variable is read: write `env('NAME')` where one is wanted.
 * @throws ChangefeedError CF_REDIS_UNREACHABLE, CF_REDIS_MISSING, CF_CONFIG_INVALID
 */
export async function openChangefeed(given: ChangefeedOptions | ConfigInput | Config): Promise<Changefeed> {
  const options: ChangefeedOptions = isConfigAlone(given) ? { config: given } : given;
  const { feed } = await openWithBudgets({ ...options, config: checkedConfig(options.config, 'openChangefeed') });
  return feed;
}

export interface OpenedChangefeed {
  feed: Changefeed;
  /** The budget that all processes of a workspace share. `doctor` asks the API within it. */
  budgetOf: (workspace: string) => Budget;
}

type OpenWith = ChangefeedOptions & { config: Config; refusedConfig?: (() => string | null) | undefined };

export async function openWithBudgets(options: OpenWith): Promise<OpenedChangefeed> {
  const { config, log = silentLog, clock = systemClock, reportsProblems = true, attempts, http = false } = options;
  const { stateDir = join(process.cwd(), '.changefeed'), configReadAtMs = clock.monotonic() } = options;
  const opened = await openContext({ ...options, configReadAtMs, stateDir, log, clock });
  const prometheus = http && config.http.enabled ? await createPrometheus() : null;
  const context = { ...opened, measure: prometheus ?? unmeasured };
  const workspaces = createWorkspaces(context, { attempts });
  const workers = createWorkers(context, workspaces, (wanted) => {
    logConfigWarnings(context.log, config, warningsFor(wanted));
    const reports = reportsProblems ? [presence(context, workspaces, { roles: wanted, status })] : [];
    // The page after the report that the process is there, or it would say for a moment that none is.
    return [watchOf(context), ...reports, ...(server === null ? [] : [server])];
  });
  const { dispatch } = workers;
  const { dispatcher } = dispatch;
  const { deliveries, describeSubscription, replay, stopReplay, resume, verify } = dispatcher;
  const status = (): Promise<Status> => readStatus(context, workspaces, dispatch);
  let stopping: Promise<void> | undefined;
  const stopParts = async (): Promise<void> => {
    await workers.stop();
    await Promise.all([workspaces.close(), dispatch.close()]);
  };
  const feed: Changefeed = {
    redisOrigin: context.redisOrigin,
    get pageUrl() {
      return server?.url() ?? null;
    },
    get pageLink() {
      return server?.link() ?? null;
    },
    handler: (request, response) => (server?.handle ?? notServed)(request, response),
    start(wanted = ROLES) {
      if (config.serve === null && wanted.every((role) => role === 'serve')) return Promise.reject(nothingToServe());
      return workers.start(wanted);
    },
    stop: () => (stopping ??= stopWithRedis(stopParts, context)),
    async sweep(call) {
      await checkRedis(context);
      return await sweepNow(context, workspaces, call);
    },
    waitUntilHandled: dispatcher.waitUntilHandled,
    tail: (call) => dispatch.tail(call),
    get deadLetters() {
      return dispatcher.deadLetters;
    },
    ...{ deliveries, describeSubscription, replay, stopReplay, resume, verify },
    try: (subscription, call = {}) => dispatcher.try(subscription, call),
    skip: (subscription, call = {}) => dispatcher.skip(subscription, call),
    pause: (subscription, reason = 'paused manually') => dispatcher.pause(subscription, reason),
    test: (subscription, call = {}) => sendTest(subscription, call, config),
    snapshot: (subscription, workspace) => sendSnapshots(context, { workspaces, dispatcher, subscription, workspace }),
    hint: async (list, ids, { workspace } = {}) => await queueHint(workspaces.choose(workspace), { list, ids, clock }),
    status,
    todos: (call = {}) => reportTodos(workspaces.all().map(reportedTodos), call, clock),
    lists: createInspector(workspaces),
    ...forgetting(context, workspaces),
  };
  const parts = { ...options, workspaces, feed, dispatcher, stateDir, progress: () => workers.progress, place: http };
  const server: ReturnType<typeof httpPart> | null = prometheus && httpPart(context, { ...parts, prometheus });
  return { feed, budgetOf: (name) => workspaces.get(name).budget };
}

const notServed: RequestListener = (_request, response) =>
  void response.writeHead(404).end("Nothing is served: openChangefeed({ http: '/changefeed' }) does.");

function isConfigAlone(given: ChangefeedOptions | ConfigInput | Config): given is ConfigInput | Config {
  // In JavaScript anything can be given: what has no `config` is checked as one.
  return !Object.hasOwn(Object(given) as object, 'config');
}

/** It has no stop of its own: stopping uses Redis too, so the watch goes on until the connections are closed. */
function watchOf(context: AppContext) {
  return { name: 'watch of Redis', start: () => checkRedis(context), stop: () => Promise.resolve() };
}

/** Before anything is written. */
async function checkRedis({ config, redis, keys, watch }: AppContext): Promise<void> {
  await watch.start();
  const workspaces = config.workspaces.map(({ name }) => name);
  await refuseOtherFormat(redis, keys, workspaces);
}

async function sendSnapshots(
  context: AppContext,
  call: { workspaces: Workspaces; dispatcher: Dispatcher; subscription: string; workspace: string | undefined },
): Promise<string[]> {
  await checkRedis(context);
  const { workspaces, dispatcher, subscription, workspace } = call;
  const names = workspace === undefined ? workspaces.names : [workspaces.get(workspace).name];
  const epochs = new Map<string, { epoch: number; since: string }>();
  for (const name of names) {
    const state = await context.guard.look(name);
    // A workspace that was never swept has no records.
    if (state !== null) epochs.set(name, { epoch: state.epoch, since: state.epochSince ?? state.since });
  }
  return await dispatcher.snapshot(subscription, epochs);
}

/** Each process logs the warnings that concern its roles. */
function warningsFor(roles: readonly Role[]): ConfigWarning['about'][] {
  const needs = {
    poll: ['address', 'polling', 'shared', 'todos'],
    serve: ['address', 'mirror'],
    dispatch: ['address', 'subscription', 'unpolled'],
    handle: ['address', 'handler'],
  } as const;
  return roles.flatMap((role) => needs[role]);
}

async function queueHint(
  workspace: Workspace,
  { list, ids, clock }: { list: ListName; ids: readonly string[]; clock: Clock },
): Promise<void> {
  const { descriptor, enabled } = listIn(workspace, list);
  const problem = enabled ? problemOfIds(ids) : `the list "${descriptor.name}" is not polled`;
  if (problem !== null) throw usage(`hint: ${problem}.`);
  await workspace.aims.add(descriptor.name, ids, clock.now());
}

function nothingToServe(): ChangefeedError {
  return new ChangefeedError('CF_CONFIG_INVALID', {
    message: 'Only the role "serve" is to run, and the configuration has no `serve`. Add serve: { token: "…" }.',
  });
}
