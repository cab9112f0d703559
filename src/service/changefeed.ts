/**
 * The public object: a configuration in, a Changefeed out. `openChangefeed` makes the parts of a process, in this order: the app context
 * (Redis, log, clock), the workspaces (API client, stores, rules), the four roles (`workers/`), and the HTTP
 * server. `start` runs the watch of Redis, the report of problems, the HTTP server and then the wanted roles; `stop` stops them in reverse.
 */
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createWorkers, ROLES, type Progress, type Role } from '../../workers/all.js';
import { openContext, type AppContext } from '../../workers/context.js';
import { sweepNow, type ListSweep, type SweepCall } from '../../workers/sweeps.js';
import { reportedTodos } from '../../workers/todos.js';
import { createWorkspaces, listIn, type Workspace, type Workspaces } from '../../workers/workspaces.js';
import type { World } from '../actions/carry-out.js';
import type { Changefeed } from '../actions/feed.js';
import { checkedConfig } from '../config/parse.js';
import type { Config, ConfigInput } from '../config/schema.js';
import { problemOfIds } from '../crm/hint.js';
import type { ListName } from '../crm/lists/lists.js';
import type { Dispatcher } from '../delivery/dispatcher.js';
import type { FindRecord } from '../events/about.js';
import { readsWorkspace } from '../events/pattern.js';
import type { Budget } from '../feed/api/budget.js';
import { reportTodos } from '../feed/todos/report.js';
import { listTodos } from '../feed/todos/rows.js';
import { systemClock, type Clock } from '../kit/clock.js';
import { ChangefeedError, usage } from '../kit/errors.js';
import { silentLog, type Log } from '../kit/log.js';
import { refuseOtherFormat } from '../log/state-guard.js';
import { createConsumers } from '../delivery/pull/consumers.js';
import { createDeliveryStores } from '../delivery/stores.js';
import type { UsageCounter } from '../log/usage.js';
import { createAudit, type Audit } from '../ops/audit.js';
import { createInvites } from '../ops/invites.js';
import { createPrometheus, unmeasured } from '../ops/watch/prometheus.js';
import { statusOf } from '../ops/watch/status-of.js';
import type { Status } from '../ops/watch/status.js';
import { stopWithRedis } from '../redis/stop-with-redis.js';
import { logConfigWarnings, logMisfits, type ConfigWarning } from './config-warnings.js';
import { forgetting } from './forgetting.js';
import { erasingRemoved } from './erasing-workspaces.js';
import { createHistories } from './histories.js';
import { httpPart, type HttpDeps } from './http.js';
import { createInspector } from './inspector.js';
import { invitations } from './invitations.js';
import { createNeverHolds, reportOfDoubts, type NeverHolds } from './never-holds.js';
import { readOverview } from './overview.js';
import { worldWithout } from './page-source.js';
import { presence } from './presence.js';
import { runningRules, type RunningRules } from './running-rules.js';
import { runningWorkspaces, type RunningWorkspaces } from './running-workspaces.js';
import { observedStatus, readStatus, type ObservedStatus } from './status.js';
import { stoppable } from './stoppable.js';
import { sendTest } from './test-event.js';
import { hostedWorkspaces } from './workspaces.js';
import { readUsage, withUsage } from './usage.js';

/** The options of `openChangefeed`. */
export interface ChangefeedOptions {
  /** The result of `defineConfig`, `loadConfig` or `parseConfig`. It is checked if it has not been. */
  config: ConfigInput | Config;
  /** The folder in which a private Redis keeps its data when the configuration names none. @defaultValue `.changefeed` in the working directory */
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
  /** Makes an audit with this log: decisions made by commands have their own. */
  auditWith: (log: Log) => Audit;
  /** The budget that all processes of a workspace share. `doctor` asks the API within it. */
  budgetOf: (workspace: string) => Budget;
  neverHolds: NeverHolds;
  /** Makes what an assistant asks of a process without a page. */
  worldWith: (audit: Audit) => World;
  /** Those that run. */
  rules: () => Config['rules'];
}

type OpenWith = ChangefeedOptions & { config: Config } & Pick<HttpDeps, 'refusedConfig' | 'door'>;

export async function openWithBudgets(options: OpenWith): Promise<OpenedChangefeed> {
  const { config, log = silentLog, clock = systemClock, reportsProblems = true, attempts, http = false } = options;
  const { stateDir = join(process.cwd(), '.changefeed'), configReadAtMs = clock.monotonic() } = options;
  const opened = await openContext({ ...options, configReadAtMs, stateDir, log, clock });
  const prometheus = http && config.http.enabled ? await createPrometheus() : null;
  const context = withUsage(opened, prometheus ?? unmeasured, () => workspaces);
  const workspaces = createWorkspaces(context, { attempts });
  const workers = createWorkers(context, workspaces, (wanted) => {
    warn(context.log, config, wanted);
    const present = { roles: wanted, status: status.read, ofFiles, ...running };
    const reports = reportsProblems ? [presence(context, workspaces, present)] : [];
    // The page after the report that the process is there, or it would say for a moment that none is.
    const doubts = reportOfDoubts(context, workspaces, wanted);
    const before = [watchOf(context), ...doubts, ...reports, ...(server === null ? [] : [server])];
    return { before, after: [rules, running, erasing] };
  });
  const { dispatch, handlers } = workers;
  const { dispatcher } = dispatch;
  const running = runningWorkspaces(context, { workspaces, poller: workers.poller, dispatcher });
  await running.refresh();
  const own = { running, forget: (name: string) => feed.forget(name) };
  const erasing = erasingRemoved(context, () => workers.progress.roles.includes('dispatch'), own);
  const rules = runningRules(context, { dispatcher, handlers, about: () => warningsFor(workers.progress.roles) });
  const ofFiles = () => filesOf({ rules, running }, options.refusedConfig);
  const status = observedStatus(() => readStatus(context, workspaces, dispatch), clock);
  let stopping: Promise<void> | undefined;
  const invites = createInvites(context);
  const feed: Changefeed = {
    redisOrigin: context.redisOrigin,
    get pageUrl() {
      return server?.url() ?? null;
    },
    get pageLink() {
      return server?.link() ?? null;
    },
    handler: (request, response) => (server?.handle ?? notServed)(request, response),
    start: (wanted = ROLES) => startWanted(workers, wanted, config),
    stop: () => (stopping ??= stopWithRedis(() => stopParts(workers, workspaces, context.used), context)),
    sweep: (call) => checkedSweep(context, workspaces, call),
    waitUntilHandled: dispatcher.waitUntilHandled,
    tail: (call) => dispatch.tail(call),
    get deadLetters() {
      return dispatcher.deadLetters;
    },
    ...askedAndDone(context, workspaces, dispatcher),
    status: ({ workspace } = {}) => statusFor(workspace, context, workspaces, status),
    audit: (query = {}) => audit.read(query),
    workspaces: hostedWorkspaces(context, own),
    invites: invitations(config.http, invites, { pageUrl: () => server?.url() ?? null, workspaces }),
    ...forgetting(context, workspaces, status.now),
  };
  const auditWith = (to: Log): Audit => createAudit({ ...context, log: to, keepMs: config.audit.keepMs });
  const audit = auditWith(context.log);
  const progress = (): Progress => workers.progress;
  const parts = { ...options, place: http, workspaces, feed, audit, dispatcher, rules, stateDir, progress, status };
  const server: ReturnType<typeof httpPart> | null = prometheus && httpPart(context, { ...parts, invites, prometheus });
  const budgetOf = (name: string): Budget => workspaces.get(name).budget;
  const neverHolds = createNeverHolds(context, workspaces);
  const worldWith = (theirs: Audit): World => worldWithout(context, { ...parts, audit: theirs });
  return { feed: stoppable(feed), auditWith, worldWith, budgetOf, neverHolds, rules: () => context.config.rules };
}

async function startWanted(
  workers: Pick<ReturnType<typeof createWorkers>, 'start'>,
  wanted: readonly Role[],
  { serve }: Config,
) {
  if (serve === null && wanted.every((role) => role === 'serve')) throw nothingToServe();
  await workers.start(wanted);
}

function consumersIn(context: AppContext, { names, surroundingsOf }: Workspaces) {
  const { events: log, config } = context;
  const logAgeMs = config.log.retention.ageMs;
  return createConsumers({
    ...context,
    ...createDeliveryStores(context),
    log,
    workspaces: names,
    surroundingsOf,
    logAgeMs,
  });
}

async function stopParts(
  workers: ReturnType<typeof createWorkers>,
  workspaces: Workspaces,
  used: UsageCounter,
): Promise<void> {
  await workers.stop();
  await used.close();
  await Promise.all([workspaces.close(), workers.dispatch.close()]);
}

function filesOf(
  { rules, running }: { rules: RunningRules; running: RunningWorkspaces },
  refusedConfig: HttpDeps['refusedConfig'],
) {
  const rulesMissing = rules.missing();
  const found = { configuration: refusedConfig?.() ?? null, rules: rules.refused(), workspaces: running.refused() };
  const refused = (['configuration', 'rules', 'workspaces'] as const).flatMap((what) => {
    const why = found[what];
    return why === null ? [] : [{ what, ...why }];
  });
  const book = running.takenOver();
  return {
    ...(book !== null && { book }),
    ...(refused.length > 0 && { refused }),
    ...(rulesMissing && { rulesMissing }),
  };
}

async function statusFor(
  name: string | undefined,
  { subscriptions }: AppContext,
  workspaces: Workspaces,
  status: ObservedStatus,
): Promise<Status> {
  if (name === undefined) return await status.now();
  const { name: workspace } = workspaces.get(name);
  const reading = subscriptions.filter((one) => readsWorkspace(one, workspace)).map((one) => one.name);
  return statusOf(await status.now(), workspace, reading);
}

/** Each is one call of what does it. */
function askedAndDone(context: AppContext, workspaces: Workspaces, dispatcher: Dispatcher) {
  const { config, clock } = context;
  const { deliveries, describeSubscription, replay, stopReplay, try: tryOut, skip, pause, resume, verify } = dispatcher;
  const histories = createHistories(workspaces, clock);
  const lists = createInspector(context, workspaces, histories);
  const linksOf = (name: string) => workspaces.surroundingsOf(name).links;
  const find: FindRecord = (list, id, workspace) => lists.record(list, id, workspace);
  return {
    ...{ deliveries, describeSubscription, replay, stopReplay, try: tryOut, skip, pause, resume, verify },
    test: (subscription, call = {}) => sendTest(subscription, call, config),
    snapshot: (subscription, workspace) => sendSnapshots(context, { workspaces, dispatcher, subscription, workspace }),
    hint: async (list, ids, { workspace } = {}) => await queueHint(workspaces.choose(workspace), { list, ids, clock }),
    overview: (call = {}) => readOverview(context, workspaces, call),
    usage: (call = {}) => readUsage(context, workspaces, call),
    todos: (call = {}) => reportTodos(workspaces.all().map(reportedTodos), call, clock),
    listTodos: (call) => listTodos(workspaces.all().map(reportedTodos), call, { ...{ clock, linksOf }, find }),
    lists,
    consumers: consumersIn(context, workspaces),
    ...histories,
  } satisfies Partial<Changefeed>;
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

async function checkedSweep(context: AppContext, workspaces: Workspaces, call?: SweepCall): Promise<ListSweep[]> {
  await checkRedis(context);
  return await sweepNow(context, workspaces, call);
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

function warn(log: Log, config: Config, roles: readonly Role[]): void {
  logConfigWarnings(log, config, warningsFor(roles));
  if (roles.includes('handle')) logMisfits(log, config.subscriptions);
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
