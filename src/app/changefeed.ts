/**
 * The wiring: a configuration in, a Changefeed out. The one file that knows every room; it decides nothing by itself.
 */
import { join } from 'node:path';
import { WORKSPACE_NAME, type Config } from '../config/schema.js';
import { logConfigWarnings } from './config-warnings.js';
import type { Dispatcher, WaitOptions, WaitResult } from '../dispatch/dispatcher.js';
import type { DeadLetters } from '../dispatch/dead-letters.js';
import { forgetWorkspace, type Forgotten } from '../dispatch/forget.js';
import type { Disabled } from '../dispatch/ports.js';
import type { ReplayCall, Replayed } from '../dispatch/replay.js';
import { ChangefeedError } from '../errors.js';
import { distinct, problemsOf } from '../observability/problems.js';
import type { Status } from '../observability/status.js';
import { isoTime, systemClock, type Clock } from '../runtime/clock.js';
import { openRedis, type OpenedRedis } from '../runtime/embedded-redis.js';
import { explainedLog } from '../runtime/explained-log.js';
import { createMirror } from '../server/mirror/mirror.js';
import { createReadApiServer } from '../server/read-api/server.js';
import { createMirrorStore } from '../state/mirror-store.js';
import { modifiedAtOf } from '../detect/fields.js';
import { createLifecycle, type Lifecycle, type Part } from '../runtime/lifecycle.js';
import { silentLog, type Log } from '../runtime/log.js';
import { openConnections } from '../runtime/redis-connections.js';
import { parseRedisUrl } from '../runtime/redis-probe.js';
import { RedisWatch } from '../runtime/redis-watch.js';
import { stopWithRedis, type UsedRedis } from '../runtime/stop-with-redis.js';
import { createUnfinished } from '../runtime/unfinished.js';
import { Keys } from '../state/keys.js';
import { RedisLogReader } from '../state/log-reader.js';
import { readWorkspaceStatus } from '../state/workspace-status.js';
import { createTraceStore } from '../state/traces.js';
import { createProcessRegistry } from '../state/process-registry.js';
import { nextSweepMs } from '../sweep/schedule.js';
import { readRedisStatus } from '../state/redis-status.js';
import { createStateGuard } from '../state/state-guard.js';
import { followLog, type TailedEvent, type TailOptions } from '../dispatch/tail.js';
import { dispatchPart } from './roles/dispatch.js';
import { createFanOut, partsOf, type Reloaded } from './fan-out.js';
import type { House } from './context.js';
import { createInspector, type Inspector } from './inspector.js';
import { waitForAll } from '../dispatch/wait-for-all.js';
import { createPolling } from './roles/poll.js';
import { presencePart } from './presence.js';
import type { TodosCall, TodosReport } from '../todos/reports.js';
import type { ListSweep, SweepCall } from './sweeper.js';

export type { DeadLetter, DeadLetterFilter, DeadLetters, ListOptions } from '../dispatch/dead-letters.js';
export type { Forgotten } from '../dispatch/forget.js';
export type { Disabled } from '../dispatch/ports.js';
export type { ReplayCall, Replayed } from '../dispatch/replay.js';
export type { Reloaded } from './fan-out.js';
export type { Inspector, FieldRules, ListSchema, PreviewOptions, RecordStory, RulesPreview } from './inspector.js';
export { keysOfValueType as keysOfForm } from '../detect/form.js';
export type { ListSweep, SweepCall } from './sweeper.js';
export type { TodosCall, TodosReport, WorkspaceTodos } from '../todos/reports.js';
export type { TodoCounts, TodoGroup } from '../todos/report.js';
export type { SweepProgress } from '../sweep/runner.js';
export type { TailedEvent, TailOptions } from '../dispatch/tail.js';

/** What a process may do: sweep lists, move the log to the queues, run handlers, serve the mirror (if configured). */
export const ROLES = ['poll', 'dispatch', 'handle', 'serve'] as const;
export type Role = (typeof ROLES)[number];

export interface ChangefeedOptions {
  config: Config;
  /** Where a Redis of our own keeps its data when none is named. @defaultValue `.changefeed` in the working directory */
  stateDir?: string;
  /** @defaultValue a log that says nothing */
  log?: Log;
  clock?: Clock;
  /**
   * Registers the process while it runs roles, watches for problems, logs them and reports them by events.
   * @defaultValue true
   */
  reportsProblems?: boolean;
  /** Tries per page of the API before a sweep is given up as incomplete, the first included. @defaultValue 8 */
  attempts?: number;
}

export interface Changefeed {
  /** `named` by the configuration, or our own: a `private` process or a `docker` container. */
  readonly redisOrigin: OpenedRedis['origin'];
  /** Aborts with an error when a private Redis had to come up at another address: stop, and open a new Changefeed. */
  readonly redisGone: AbortSignal;
  /**
   * Takes up the roles, all by default. Once: called again it gives the same promise.
   * @throws ChangefeedError CF_REDIS_UNREACHABLE, CF_REDIS_EVICTS
   */
  start(roles?: readonly Role[]): Promise<void>;
  /**
   * Ends whatever runs, closes every connection, and stops a private Redis that no other living process uses. A Redis that gives
   * no answer is not waited for.
   * @throws ChangefeedError CF_STOP_TIMEOUT naming what did not stop, or what was under way when Redis was away
   */
  stop(): Promise<void>;
  /**
   * One complete sweep of each list. A list that could not be completed is told as such and fails none of the others.
   * @throws ChangefeedError CF_REDIS_UNREACHABLE, CF_REDIS_EVICTS
   */
  sweep(call?: SweepCall): Promise<ListSweep[]>;
  /** Waits until every event now in the log is handled or a dead letter, for every subscription. */
  waitUntilHandled(options: Omit<WaitOptions, 'upTo'>): Promise<WaitResult>;
  /** The log of events, as it is and as it grows. */
  tail(options?: TailOptions): AsyncGenerator<TailedEvent, void, undefined>;
  /** Events whose handling was given up. What is retried is handled by whichever process has the role `handle`. */
  readonly deadLetters: DeadLetters;
  /**
   * Sends a stretch of the log to one subscription again: the same events with the same ids, `replay: true` in the
   * handler's context, in order per record. Resolves when all are in the queue.
   * @throws ChangefeedError CF_USAGE
   */
  replay(call: ReplayCall): Promise<Replayed>;
  /**
   * Takes over another configuration while everything runs. Workspaces: their options, such as a new token or interval.
   * Subscriptions: new ones begin at their `start`, those
   * that differ are handled by their new options from then on, those that are gone stop reading and their handlers finish.
   * What Redis holds of a subscription that is gone stays, and it goes on there should it come back. Everything else of
   * the configuration, and added or removed workspaces, need a restart. Calls at the same time are carried out one after the other.
   */
  reload(config: Config): Promise<Reloaded>;
  /**
   * Has a disabled subscription go on where it stood, in order. Answers how it was disabled; null when it was not.
   * @throws ChangefeedError CF_USAGE
   */
  enable(subscription: string): Promise<Disabled | null>;
  /**
   * Delivers nothing more to a subscription, in any process, until it is enabled. Its events wait in its queue and in the
   * log, there as long as `log.retention` says. Answers false when it was disabled before.
   * @throws ChangefeedError CF_USAGE
   */
  disable(subscription: string, reason?: string): Promise<boolean>;
  status(): Promise<Status>;
  /**
   * What the todos come to, counted from what is remembered of them.
   * @throws ChangefeedError CF_USAGE when there is no such workspace or time, or todos are kept without images
   */
  todos(call?: TodosCall): Promise<TodosReport>;
  /** What there is to ask and to decide about single lists. */
  readonly lists: Inspector;
  /**
   * Removes everything Redis keeps of a workspace, also of one that the configuration does not name (any more): records,
   * log, places, and its events in the subscriptions' queues, dead letters included. What handlers delivered stays
   * where it is. May be repeated. Handlers at work on its events are waited for.
   * @throws ChangefeedError CF_WORKSPACE_BUSY while a process sweeps it, CF_USAGE
   */
  forget(workspace: string): Promise<Forgotten>;
}

/**
 * Opens Redis (the named one, else one of our own) and puts the parts together. Nothing runs before `start` or `sweep`.
 * @throws ChangefeedError CF_REDIS_UNREACHABLE, CF_REDIS_MISSING, CF_CONFIG_INVALID
 */
export async function openChangefeed(options: ChangefeedOptions): Promise<Changefeed> {
  const { config, log = silentLog, clock = systemClock, stateDir = join(process.cwd(), '.changefeed') } = options;
  const opened = await openRedis({ url: config.redis.url, stateDir, log });
  const { url } = opened;
  const { place } = parseRedisUrl(url);
  const keys = new Keys(config.redis.prefix);
  const connections = openConnections({ url, onChange: (state) => watch.connectionsChanged(state) });
  const watch: RedisWatch = new RedisWatch({
    place,
    connect: connections.patient,
    probeKey: keys.probe(),
    allowEviction: config.redis.allowEviction,
    log,
    clock,
  });
  const house: House = {
    config,
    current: { workspaces: config.workspaces },
    keys,
    redis: connections.general(),
    connect: connections.patient,
    watch,
    unfinished: createUnfinished(),
    log: explainedLog(log, (failure) => watch.isExplained(failure)),
    clock,
    attempts: options.attempts,
    loops: new Map(),
  };
  const close = async (): Promise<void> => {
    await watch.stop();
    connections.cut();
    await opened.close();
  };
  const cut = (): void => {
    watch.close();
    connections.cut();
  };
  const facts = { redisOrigin: opened.origin, redisGone: opened.gone };
  return assemble(house, { facts, used: { place, cut, close }, reportsProblems: options.reportsProblems ?? true });
}

interface Assembly {
  facts: Pick<Changefeed, 'redisOrigin' | 'redisGone'>;
  used: UsedRedis;
  reportsProblems: boolean;
}

function assemble(house: House, { facts, used, reportsProblems }: Assembly): Changefeed {
  const { config, watch } = house;
  const logReader = new RedisLogReader(house);
  const guard = createStateGuard(house);
  const polling = createPolling({ ...house, guard });
  const { sweeper } = polling;
  const workspaces = config.workspaces.map(({ name }) => name);
  const fanOut = createFanOut(house, { logReader, sweeper, applyWorkspace: (workspace) => polling.apply(workspace) });
  const { dispatcher, operations, pool } = fanOut;
  const parts: Record<Role, Part> = {
    poll: polling.part,
    dispatch: dispatchPart(house, fanOut),
    serve: mirrorPart(house),
    handle: { name: 'handlers', start: () => pool.start(), stop: () => pool.stop() },
  };
  const status = statusReader(house, dispatcher);
  // It goes on until the connections are closed: stopping uses Redis as well.
  const watching: Part = { name: 'watch of Redis', start: () => watch.start(), stop: () => Promise.resolve() };
  let running: Lifecycle | undefined;
  let stopping: Promise<void> | undefined;
  const stopParts = async (): Promise<void> => {
    await running?.stop();
    await fanOut.settled();
    if (running === undefined) await dispatcher.stop();
    await Promise.all([sweeper.close(), logReader.close(), operations.close()]);
  };
  return {
    ...facts,
    lists: createInspector(sweeper),
    start(roles) {
      if (config.serve === null && roles?.every((role) => role === 'serve') === true)
        return Promise.reject(nothingToServe());
      // Handlers first and sweeps last: whatever is found meets somebody who is ready for it.
      const wanted = ROLES.toReversed().filter((role) => (roles ?? ROLES).includes(role));
      const presence = reportsProblems ? [presencePart(house, { roles: wanted, guard, status })] : [];
      return (running ??= lifecycleOf(house, { first: [watching, ...presence], parts, roles: wanted })).start();
    },
    stop: () => (stopping ??= stopWithRedis(stopParts, { ...house, ...used })),
    async sweep(call) {
      await watch.start();
      return await sweeper.sweep(call);
    },
    waitUntilHandled(wait) {
      const derives = fanOut.subscriptions.some(({ handler }) => handler === 'derive');
      return waitForAll(wait, { dispatcher, log: logReader, workspaces, derives });
    },
    get deadLetters() {
      return operations.deadLetters;
    },
    replay: (call) => operations.replay(call),
    reload: (next) => fanOut.reload(next),
    enable: (subscription) => operations.enable(subscription),
    disable: (subscription, reason = 'by hand') => operations.disable(subscription, reason),
    tail: (options) => followLog({ log: logReader, workspaces }, options),
    todos: (call) => polling.todos(call),
    forget: (workspace) => forget(house, workspace),
    status,
  };
}

function statusReader(house: House, dispatcher: Pick<Dispatcher, 'statistics'>): () => Promise<Status> {
  const { config, current, redis, keys, clock } = house;
  const registry = createProcessRegistry(redis, keys);
  return async () => {
    const view = { redis, keys, nowMs: clock.now(), nextMs: nextSweepMs };
    const [redisStatus, workspaces, subscriptions, processes] = await Promise.all([
      readRedisStatus(redis, keys, config.redis),
      Promise.all(current.workspaces.map((workspace) => readWorkspaceStatus(view, workspace))),
      dispatcher.statistics(),
      registry.list(),
    ]);
    const facts = { at: isoTime(view.nowMs), redis: redisStatus, workspaces, subscriptions, processes };
    return { ...facts, problems: distinct(problemsOf(facts)) };
  };
}

/** Each process warns of what its roles need. */
function lifecycleOf(
  { config, log }: House,
  { first, parts, roles }: { first: readonly Part[]; parts: Record<Role, Part>; roles: readonly Role[] },
): Lifecycle {
  const needs = { poll: ['polling', 'todos'], serve: ['mirror'], dispatch: ['subscription'], handle: [] } as const;
  logConfigWarnings(
    log,
    config,
    roles.flatMap((role) => needs[role]),
  );
  return createLifecycle([...first, ...roles.map((role) => parts[role])]);
}

async function forget(house: House, workspace: string): Promise<Forgotten> {
  const { redis, keys } = house;
  const registry = createProcessRegistry(redis, keys);
  if (!WORKSPACE_NAME.test(workspace))
    throw new ChangefeedError('CF_USAGE', {
      message:
        'forget: this is no name of a workspace; allowed: letters, digits, "-", "_" and ".", 1 to 64 characters.',
    });
  return await forgetWorkspace(workspace, {
    ...partsOf(house),
    traces: createTraceStore(redis, keys),
    pollers: async (name) =>
      (await registry.list()).filter(({ roles, workspaces }) => roles.includes('poll') && workspaces.includes(name))
        .length,
  });
}

/** The six endpoints over what is remembered; nothing, where the configuration has no `serve`. */
function mirrorPart({ config: { serve, workspaces }, redis, keys, clock, log }: House): Part {
  if (serve === null) return { name: 'mirror', start: () => Promise.resolve(), stop: () => Promise.resolve() };
  const mirrors = new Map(
    workspaces.flatMap(({ name, lists }) => {
      const token = serve.tokens.get(name);
      const store = createMirrorStore(redis, keys, name);
      return token === undefined
        ? []
        : [[token, createMirror({ store, lists, clock, stampOf: modifiedAtOf })] as const];
    }),
  );
  const { host, port } = serve;
  const server = createReadApiServer({ sources: (token) => mirrors.get(token) ?? null, host, port, clock, log });
  return {
    name: 'mirror',
    async start() {
      log.info({ url: await server.start() }, 'the mirror serves the six lists');
    },
    stop: () => server.stop(),
  };
}

function nothingToServe(): ChangefeedError {
  return new ChangefeedError('CF_CONFIG_INVALID', {
    message: 'The role "serve" alone was asked for, and the configuration has no `serve`. Add serve: { token: "…" }.',
  });
}
