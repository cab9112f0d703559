/** Sweeps by name: what a workspace's list needs for its sweep, put together once; for the schedule and for a person. */
import type { Redis } from 'ioredis';
import { createReadApi } from './api/client.js';
import type { ReadApi } from './api/read-api.js';
import type { Config, ListConfig, WorkspaceConfig } from './config/schema.js';
import { compileRules, type Rules, type TodoWatch } from './detect/rules.js';
import { ChangefeedError } from './errors.js';
import { LIST_NAMES, type ListName } from './events/lists.js';
import type { Clock } from './runtime/clock.js';
import type { Log } from './runtime/log.js';
import { createBudget } from './state/budget.js';
import type { Keys } from './state/keys.js';
import { createSweepStore } from './state/sweep-store.js';
import { sweepList, type SweepDeps, type SweepOptions, type SweepProgress, type SweepResult } from './sweep/runner.js';
import type { SweepStore, SweepSummary } from './sweep/store.js';

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
  enabledLists(lists: WorkspaceConfig['lists']): { list: ListName; intervalMs: number }[];
  /** One tick of the schedule: passes by when the list is being swept already. */
  tick(workspace: string, list: ListName, signal: AbortSignal): Promise<void>;
  /** @throws ChangefeedError CF_USAGE when there is no such workspace */
  sweep(call?: SweepCall): Promise<ListSweep[]>;
  /**
   * A list's memory and rules; the workspace may be left out when there is one only.
   * @throws ChangefeedError CF_USAGE when there is no such workspace, or several to choose from
   */
  view(list: ListName, workspace?: string): ListView;
  close(): Promise<void>;
}

export interface SweeperDeps {
  config: Config;
  redis: Redis;
  keys: Keys;
  clock: Clock;
  log: Log;
  /** Tries per page; the client's own default when undefined. */
  attempts: number | undefined;
  /** Called when a list has been swept completely. */
  onSwept: (workspace: string, list: ListName) => Promise<void>;
}

interface SweptWorkspace {
  name: string;
  deps: SweepDeps;
  api: ReadApi;
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
    enabledLists: (lists) =>
      LIST_NAMES.filter((list) => lists[list].enabled).map((list) => ({ list, intervalMs: lists[list].intervalMs })),
    async tick(name, list, signal) {
      const workspace = named(name);
      const result = await sweepList(workspace.deps, { ...optionsOf(workspace, list), signal });
      if (result.outcome === 'held') {
        log.debug({ workspace: name, list }, 'list is being swept elsewhere');
        return;
      }
      logSummary(log, name, list, result.summary);
      await onSwept(name, list);
    },
    async sweep({ workspace, lists, ...rest } = {}) {
      const chosen = workspace === undefined ? [...workspaces.values()] : [named(workspace)];
      const wanted = chosen.flatMap((one) =>
        (lists ?? LIST_NAMES.filter((list) => one.lists[list].enabled)).map((list) => ({ one, list })),
      );
      return await Promise.all(wanted.map(({ one, list }) => sweepOne(one, list, { ...rest, clock, onSwept })));
    },
    view(list, name) {
      const { deps: swept, lists } = named(name ?? onlyName([...workspaces.keys()]));
      return { workspace: swept.workspace, store: swept.store, rules: lists[list].rules };
    },
    async close() {
      await Promise.all([...workspaces.values()].map(({ api }) => api.close()));
    },
  };
}

function sweptWorkspace(
  { redis, keys, clock, log, attempts }: SweeperDeps,
  workspace: WorkspaceConfig,
): SweptWorkspace {
  const { name, baseUrl, token, budget: limits, lists } = workspace;
  const watch = todoWatchOf(workspace);
  const budget = createBudget({ redis, keys, workspace: name, limits, clock });
  const api = createReadApi({
    workspace: name,
    baseUrl,
    token,
    budget,
    log,
    clock,
    ...(attempts !== undefined && { attempts }),
  });
  const withRules = (list: ListName) =>
    [list, { ...lists[list], rules: compileRules(list, lists[list], watch) }] as const;
  return {
    name,
    api,
    deps: { workspace: name, api, store: createSweepStore(redis, keys, name), clock, log },
    lists: Object.fromEntries(LIST_NAMES.map(withRules)) as SweptWorkspace['lists'],
  };
}

/** Null: todos are not watched. */
export function todoWatchOf({ todos, timeZone, lists }: WorkspaceConfig): TodoWatch | null {
  return todos.watch && lists.todo.enabled ? { timeZone, dueSoonMs: todos.dueSoon } : null;
}

function optionsOf({ lists }: SweptWorkspace, list: ListName): SweepOptions {
  const { rules, baseline, images, removals } = lists[list];
  return { list, rules, baseline, images, removals };
}

/** A person asked for this sweep: one under way elsewhere is waited for, then the list is swept for them. */
async function sweepOne(
  workspace: SweptWorkspace,
  list: ListName,
  { clock, onSwept, ...rest }: Omit<SweepCall, 'lists' | 'workspace'> & Pick<SweeperDeps, 'clock' | 'onSwept'>,
): Promise<ListSweep> {
  const where = { workspace: workspace.name, list };
  try {
    for (;;) {
      const result: SweepResult = await sweepList(workspace.deps, { ...optionsOf(workspace, list), ...rest });
      if (result.outcome === 'complete') {
        await onSwept(workspace.name, list);
        return { ...where, outcome: 'complete', summary: result.summary };
      }
      await clock.sleep(Math.min(500, result.expiresInMs + 1), rest.signal);
    }
  } catch (error) {
    if (rest.signal?.aborted === true) throw error;
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
