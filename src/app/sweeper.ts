/** Sweeps by name: what a workspace's list needs for its sweep, put together once; for the schedule and for a person. */
import type { Redis } from 'ioredis';
import { createReadApi } from '../api/client.js';
import type { ReadApi } from '../api/read-api.js';
import type { Config, ListConfig, WorkspaceConfig } from '../config/schema.js';
import { compileRules, type Rules, type TodoWatch } from '../detect/rules.js';
import { ChangefeedError } from '../errors.js';
import { LIST_NAMES, type ListName } from '../events/lists.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { RedisUse } from '../runtime/redis-watch.js';
import type { Unfinished } from '../runtime/unfinished.js';
import { createBudget } from '../state/budget.js';
import type { Keys } from '../state/keys.js';
import { normaliseBaseUrl } from '../runtime/base-url.js';
import type { StateGuard } from '../state/state-guard.js';
import { createScheduleStore } from '../state/schedule.js';
import { createSweepStore } from '../state/sweep-store.js';
import { sweepList, type SweepDeps, type SweepOptions, type SweepProgress, type SweepResult } from '../sweep/runner.js';
import { createFailureLog, type FailureLog } from '../sweep/failures.js';
import { nextSweepMs, type ScheduleStore } from '../sweep/schedule.js';
import type { SweepStore, SweepSummary } from '../sweep/store.js';

export interface SweepCall {
  /** @defaultValue all enabled lists */
  lists?: readonly ListName[] | undefined;
  /** Only this workspace. @defaultValue all */
  workspace?: string | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: SweepProgress) => void) | undefined;
}

export type ListSweep = { workspace: string; list: ListName } & (
  { outcome: 'complete'; summary: SweepSummary } | { outcome: 'incomplete'; error: unknown }
);

/** What a person asks about one list. */
export interface ListView {
  workspace: string;
  store: SweepStore;
  rules: Rules;
}

export interface Sweeper {
  enabledLists(lists: WorkspaceConfig['lists']): ListName[];
  /**
   * When the list is due by its interval and its last attempts, in ms since the epoch.
   * @param wake when something else asks for a sweep; null when nothing does
   */
  dueMs(workspace: string, list: ListName, wake: () => Promise<number | null>): Promise<number>;
  /**
   * One sweep of a list that is due. A failure is logged, kept for the status, and decides when the next attempt is made.
   * @returns how long another process may go on sweeping the list, in ms; 0 when this one did
   */
  tick(workspace: string, list: ListName, watch: { signal: AbortSignal; alive: () => void }): Promise<number>;
  /** @throws ChangefeedError CF_USAGE when there is no such workspace */
  sweep(call?: SweepCall): Promise<ListSweep[]>;
  /**
   * A list's memory and rules; the workspace may be left out when there is one only.
   * @throws ChangefeedError CF_USAGE when there is no such workspace, or several to choose from
   */
  view(list: ListName, workspace?: string): ListView;
  /** From here on the workspace of that name is swept with these options. No sweep of it may be under way here. */
  replace(workspace: WorkspaceConfig): Promise<void>;
  close(): Promise<void>;
}

export interface SweeperDeps {
  config: Config;
  redis: Redis;
  keys: Keys;
  clock: Clock;
  log: Log;
  watch: RedisUse;
  unfinished: Unfinished;
  /** Tries per page; the client's own default when undefined. */
  attempts: number | undefined;
  guard: StateGuard;
  /** Called when a list has been swept completely. */
  onSwept: (workspace: string, list: ListName) => Promise<void>;
}

interface SweptWorkspace {
  name: string;
  deps: SweepDeps;
  api: ReadApi;
  schedule: ScheduleStore;
  failures: FailureLog;
  /** Called at each answer of the API about a list, while a loop sweeps it. */
  alive: Map<ListName, () => void>;
  watch: RedisUse;
  lists: Readonly<Record<ListName, ListConfig & { rules: Rules }>>;
}

export function createSweeper(deps: SweeperDeps): Sweeper {
  const { config, clock, log, onSwept } = deps;
  const workspaces = new Map(config.workspaces.map((one) => [one.name, sweptWorkspace(deps, one)]));
  const named = (name: string): SweptWorkspace => {
    const found = workspaces.get(name);
    if (found !== undefined) return found;
    throw new ChangefeedError('CF_USAGE', {
      message: `There is no workspace "${name}". The configuration names ${[...workspaces.keys()].join(', ')}.`,
    });
  };
  return {
    enabledLists: (lists) => LIST_NAMES.filter((list) => lists[list].enabled),
    async dueMs(name, list, wake) {
      const { schedule, lists } = named(name);
      const [times, wakeMs] = await Promise.all([schedule.times(list), wake()]);
      return nextSweepMs(times, { intervalMs: lists[list].intervalMs, wakeMs, nowMs: clock.now() });
    },
    async tick(name, list, { signal, alive }) {
      const workspace = named(name);
      workspace.alive.set(list, alive);
      try {
        const options = await optionsFor(workspace, list, deps.guard);
        const result = await sweepUnlessRefused(workspace, { ...options, signal, onProgress: alive });
        if (result.outcome === 'held') {
          log.debug({ workspace: name, list }, 'list is being swept elsewhere');
          return result.expiresInMs;
        }
        logSummary(log, name, list, result.summary);
        await workspace.failures.succeeded(list);
        await onSwept(name, list);
      } catch (error) {
        signal.throwIfAborted();
        await workspace.failures.failed(list, { error, intervalMs: workspace.lists[list].intervalMs });
      } finally {
        workspace.alive.delete(list);
      }
      return 0;
    },
    async sweep({ workspace, lists, ...rest } = {}) {
      const chosen = workspace === undefined ? [...workspaces.values()] : [named(workspace)];
      const wanted = chosen.flatMap((one) =>
        (lists ?? LIST_NAMES.filter((list) => one.lists[list].enabled)).map((list) => ({ one, list })),
      );
      return await Promise.all(wanted.map(({ one, list }) => sweepOne(one, list, { ...rest, deps })));
    },
    view(list, name) {
      const { deps: swept, lists } = named(name ?? onlyName([...workspaces.keys()]));
      return { workspace: swept.workspace, store: swept.store, rules: lists[list].rules };
    },
    async replace(workspace) {
      const before = workspaces.get(workspace.name);
      workspaces.set(workspace.name, sweptWorkspace(deps, workspace));
      await before?.api.close();
    },
    async close() {
      await Promise.all([...workspaces.values()].map(({ api }) => api.close()));
    },
  };
}

function sweptWorkspace(
  { redis, keys, clock, log, attempts, watch, unfinished }: SweeperDeps,
  workspace: WorkspaceConfig,
): SweptWorkspace {
  const { name, baseUrl, token, budget: limits, lists } = workspace;
  const todoWatch = todoWatchOf(workspace);
  const budget = createBudget({ redis, keys, workspace: name, limits, clock });
  const alive: SweptWorkspace['alive'] = new Map();
  const schedule = createScheduleStore(redis, keys, name);
  const failures = createFailureLog({ workspace: name, schedule, log, clock });
  const api = createReadApi({
    workspace: name,
    baseUrl,
    token,
    budget,
    log,
    clock,
    observe(tried) {
      alive.get(tried.list)?.();
      // Redis may be away: the failure of the sweep is kept later.
      failures.tried(tried).catch(() => undefined);
    },
    ...(attempts !== undefined && { attempts }),
  });
  const withRules = (list: ListName) =>
    [list, { ...lists[list], rules: compileRules(list, lists[list], todoWatch) }] as const;
  const store = namingCommits(createSweepStore(redis, keys, name), unfinished);
  return {
    name,
    api,
    watch,
    alive,
    schedule,
    failures,
    deps: {
      workspace: name,
      source: normaliseBaseUrl(baseUrl),
      api,
      store,
      clock,
      log,
    },
    lists: Object.fromEntries(LIST_NAMES.map(withRules)) as SweptWorkspace['lists'],
  };
}

/** A stop that cannot wait for Redis says which commits were not answered. */
function namingCommits(store: SweepStore, unfinished: Unfinished): SweepStore {
  const commitOf = (list: ListName): string => `commit of list "${list}"`;
  return {
    ...store,
    commitPage: (list, commit) => unfinished.during(commitOf(list), () => store.commitPage(list, commit)),
    commitRemovals: (list, commit) => unfinished.during(commitOf(list), () => store.commitRemovals(list, commit)),
  };
}

/** Null: todos are not watched. */
export function todoWatchOf({ todos, timeZone, lists }: WorkspaceConfig): TodoWatch | null {
  return todos.watch && lists.todo.enabled ? { timeZone, dueSoonMs: todos.dueSoon } : null;
}

/** After a loss of the state the first sweep is quiet, whatever the configuration says of first contact: nothing is new. */
async function optionsFor({ name, lists }: SweptWorkspace, list: ListName, guard: StateGuard): Promise<SweepOptions> {
  const { rules, baseline, images, removals, creations } = lists[list];
  const { lostAt, id } = await guard.check(name);
  const options = { list, rules, images, removals, creations };
  return lostAt === null ? { ...options, baseline } : { ...options, baseline: 'quiet', epoch: id };
}

/**
 * Not begun while Redis takes no writes, and broken off when Redis begins to evict keys: what it evicts looks like records that
 * were never seen.
 */
async function sweepUnlessRefused({ deps, watch }: SweptWorkspace, options: SweepOptions): Promise<SweepResult> {
  const refusal = watch.refusal();
  if (refusal !== null) throw refusal;
  const signals = options.signal === undefined ? [] : [options.signal];
  return await sweepList(deps, { ...options, signal: AbortSignal.any([watch.evicting, ...signals]) });
}

/** A person asked for this sweep: one under way elsewhere is waited for, then the list is swept for them. */
async function sweepOne(
  workspace: SweptWorkspace,
  list: ListName,
  { deps, ...rest }: Omit<SweepCall, 'lists' | 'workspace'> & { deps: SweeperDeps },
): Promise<ListSweep> {
  const where = { workspace: workspace.name, list };
  try {
    const options = await optionsFor(workspace, list, deps.guard);
    for (;;) {
      const result = await sweepUnlessRefused(workspace, { ...options, ...rest });
      if (result.outcome === 'complete') {
        await workspace.failures.succeeded(list);
        await deps.onSwept(workspace.name, list);
        return { ...where, outcome: 'complete', summary: result.summary };
      }
      await deps.clock.sleep(Math.min(500, result.expiresInMs + 1), rest.signal);
    }
  } catch (error) {
    if (rest.signal?.aborted === true) throw error;
    // The caller reports it.
    const { intervalMs } = workspace.lists[list];
    await workspace.failures.failed(list, { error, intervalMs, quiet: true });
    return { ...where, outcome: 'incomplete', error };
  }
}

function logSummary(
  log: Log,
  workspace: string,
  list: ListName,
  { mode, pages, counts, muted, ...times }: SweepSummary,
): void {
  const ms = Date.parse(times.completedAt) - Date.parse(times.startedAt);
  log.info({ workspace, list, mode, pages, ...counts, ...(muted !== undefined && { muted }), ms }, 'sweep complete');
}

function onlyName(names: readonly string[]): string {
  const [first, second] = names;
  if (first !== undefined && second === undefined) return first;
  throw new ChangefeedError('CF_USAGE', {
    message: `Which workspace? Name one of ${names.join(', ')} with --workspace.`,
  });
}
