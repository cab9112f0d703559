/** The role `poll`: sweeps each list when it is due. Also the sweeps that a person asks for, which need no role. */
import type { WorkspaceConfig } from '../../config/schema.js';
import type { ListName } from '../../crm/lists/lists.js';
import { ChangefeedError } from '../../errors.js';
import type { Part } from '../../runtime/lifecycle.js';
import { createPoller, type PolledList } from '../../sweep/poller.js';
import type { SweepProgress } from '../../sweep/options.js';
import { sweepList, type RunOptions, type SweepResult } from '../../sweep/run-sweep.js';
import { useShortcutsUntil } from '../../sweep/shortcuts/between-sweeps.js';
import { nextSweepMs, walkLoadOf } from '../../sweep/schedule.js';
import type { SweepSummary } from '../../sweep/store.js';
import { emitDueTodos, nextTodoSweepMs } from '../../todos/monitor.js';
import type { AppContext } from '../context.js';
import { enabledLists, listIn, type Workspace, type Workspaces } from '../workspaces.js';

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

export interface PollRole extends Part {
  /** Polls the workspace of this name by these options from now on. Its sweeps under way are aborted; their checkpoints are kept. */
  apply(config: WorkspaceConfig): Promise<void>;
}

export function pollRole(context: AppContext, workspaces: Workspaces): PollRole {
  const { watch, log, clock, loops } = context;
  const polledLists = (workspace: Pick<WorkspaceConfig, 'name' | 'lists'>): PolledList[] =>
    enabledLists(workspace).map((list) => ({ workspace: workspace.name, list }));
  const poller = createPoller({
    lists: workspaces.all().flatMap(({ config }) => polledLists(config)),
    dueMs: ({ workspace, list }) => dueMs(context, workspaces.get(workspace), list),
    sweep: ({ workspace, list }, turn) => sweepDue(context, workspaces.get(workspace), { list, ...turn }),
    watch: ({ workspace, list }, turn) => watchList(context, workspaces.get(workspace), { list, ...turn }),
    ready: (signal) => watch.untilUsable(signal),
    log,
    clock,
    loops,
  });
  return {
    name: 'poller',
    start() {
      poller.start();
      return Promise.resolve();
    },
    stop: () => poller.stop(),
    apply: (config) => poller.apply(config.name, polledLists(config), () => workspaces.replace(config)),
  };
}

/**
 * When the list is due, in ms since the epoch: by its schedule and its last failure, or earlier because a todo becomes due. What the last
 * sweep cost and found, in whichever process, sets the list's part of this process's requests.
 */
async function dueMs({ clock }: AppContext, workspace: Workspace, list: ListName): Promise<number> {
  const { schedule, todos, budget } = workspace;
  const [times, wakeMs] = await Promise.all([schedule.times(list), list === 'todo' ? nextTodoSweepMs(todos) : null]);
  const { intervalMs, idleMs } = listIn(workspace, list);
  const load = walkLoadOf(times, { intervalMs, idleMs });
  if (load !== null) budget.weigh(list, load);
  return nextSweepMs(times, { intervalMs, idleMs, wakeMs, nowMs: clock.now() });
}

/**
 * Sweeps a list that is due. A failure is logged, stored for the status, and decides when the next attempt is made.
 * @returns how long the lease of another process may last, in ms; 0 when this process swept the list
 */
async function sweepDue(
  context: AppContext,
  workspace: Workspace,
  { list, signal, alive }: { list: ListName; signal: AbortSignal; alive: () => void },
): Promise<number> {
  const { log, clock } = context;
  const calledAtMs = clock.now();
  const where = { workspace: workspace.name, list };
  workspace.alive.set(list, alive);
  try {
    const reader = workspace.shortcuts.get(list);
    const shortcuts = reader === undefined ? undefined : { reader, store: workspace.store };
    const result = await sweepOnce(context, workspace, { list, signal, onProgress: alive, shortcuts });
    if (result.outcome === 'held') {
      log.debug(where, 'list is being swept by another process');
      return result.expiresInMs;
    }
    const { startedAt, completedAt } = result.summary;
    context.measure.swept({ ...where, outcome: 'complete', ms: Date.parse(completedAt) - Date.parse(startedAt) });
    workspace.sweepLog.complete(list, result.summary, calledAtMs);
  } catch (error) {
    signal.throwIfAborted();
    refuseToReport(error);
    context.measure.swept({ ...where, outcome: 'incomplete', ms: null });
    await workspace.failures.failed(list, { error, pace: listIn(workspace, list) });
  } finally {
    workspace.alive.delete(list);
  }
  return 0;
}

/**
 * Uses the shortcuts of a list that waits for its next sweep. A failure is the next sweep's to report: it reads the same list and the same
 * Redis.
 */
async function watchList(
  { watch, guard, log }: AppContext,
  workspace: Workspace,
  { list, signal, alive, untilMs }: { list: ListName; signal: AbortSignal; alive: () => void; untilMs: number },
): Promise<void> {
  const { name, sweepDeps, store } = workspace;
  const shortcuts = workspace.shortcuts.get(list);
  // An automatic list waits only after a failure, or for a second.
  if (shortcuts === undefined || listIn(workspace, list).intervalMs === null || watch.refusal() !== null) return;
  workspace.alive.set(list, alive);
  try {
    const { rules, images, creations } = listIn(workspace, list);
    const { lostAt, id } = await guard.check(name);
    const state = lostAt === null ? {} : { epoch: id };
    const until = { signal: AbortSignal.any([watch.evicting, signal]), shortcuts, untilMs };
    await useShortcutsUntil({ ...sweepDeps, store }, { list, rules, images, creations, ...state, ...until });
  } catch (error) {
    signal.throwIfAborted();
    log.debug({ workspace: name, list, error: String(error) }, 'shortcuts of a waiting list stopped');
  } finally {
    workspace.alive.delete(list);
  }
}

/** In a state of a newer release, not even a failure is written. */
function refuseToReport(error: unknown): void {
  if (error instanceof ChangefeedError && error.code === 'CF_STATE_NEWER') throw error;
}

/**
 * Sweeps lists now, at the same time.
 * @throws ChangefeedError CF_USAGE when there is no such workspace, or none that is swept has a list of this name
 */
export async function sweepNow(
  context: AppContext,
  workspaces: Workspaces,
  { workspace, lists, ...options }: SweepCall = {},
): Promise<ListSweep[]> {
  const chosen = workspace === undefined ? workspaces.all() : [workspaces.get(workspace)];
  const sweeps = chosen.flatMap((one) =>
    listsToSweep(one, lists, chosen).map((list) => sweepOneNow(context, one, { ...options, list })),
  );
  return await Promise.all(sweeps);
}

/** The lists that were asked for, or all that are enabled. A list that only another chosen workspace has is left out. */
function listsToSweep(
  workspace: Workspace,
  wanted: readonly ListName[] | undefined,
  chosen: readonly Workspace[],
): ListName[] {
  if (wanted === undefined) return enabledLists(workspace.config);
  const isElsewhere = (list: ListName): boolean => chosen.some(({ lists }) => lists.has(list));
  // `listIn` refuses a list that no chosen workspace has.
  for (const list of wanted) if (!isElsewhere(list)) listIn(workspace, list);
  return wanted.filter((list) => workspace.lists.has(list));
}

type OneSweep = Pick<SweepCall, 'signal' | 'onProgress'> & Pick<RunOptions, 'list' | 'shortcuts'>;

/**
 * While another process sweeps the list, waits, and then sweeps it: that sweep may have begun before the caller's change. A service that
 * sweeps without a pause may hold the lease whenever it is tried. Then its second complete sweep counts: it began after the call.
 */
async function sweepOneNow(context: AppContext, workspace: Workspace, sweep: OneSweep): Promise<ListSweep> {
  const { list, signal } = sweep;
  const where = { workspace: workspace.name, list };
  try {
    const sweepsOfOthers = new Set<string>();
    for (;;) {
      const result = await sweepOnce(context, workspace, sweep);
      if (result.outcome === 'complete') return { ...where, ...result };
      const { lastSweep } = (await workspace.store.load(list)).state;
      sweepsOfOthers.add(lastSweep?.sweepId ?? '');
      // The first was there before, or was under way.
      if (sweepsOfOthers.size > 2 && lastSweep !== null) return { ...where, outcome: 'complete', summary: lastSweep };
      await context.clock.sleep(Math.min(500, result.expiresInMs + 1), signal);
    }
  } catch (error) {
    if (signal?.aborted === true) throw error;
    refuseToReport(error);
    // Not logged: the caller reports it.
    await workspace.failures.failed(list, { error, pace: listIn(workspace, list), quiet: true });
    return { ...where, outcome: 'incomplete', error };
  }
}

/**
 * A sweep does not start while Redis takes no writes, and it is aborted when Redis begins to evict keys: a record whose key was evicted
 * would be taken for a new one.
 */
async function sweepOnce(
  { guard, watch, clock, log }: AppContext,
  workspace: Workspace,
  { list, signal, onProgress, shortcuts }: OneSweep,
): Promise<SweepResult> {
  const refusal = watch.refusal();
  if (refusal !== null) throw refusal;
  const { name, sweepDeps, failures, todos } = workspace;
  const { rules, baseline, images, removals, creations } = listIn(workspace, list);
  const { lostAt, id } = await guard.check(name);
  const result = await sweepList(sweepDeps, {
    list,
    rules,
    images,
    removals,
    creations,
    // After a loss of the state the records are not new: the first sweep is quiet, whatever `baseline` says.
    ...(lostAt === null ? { baseline } : { baseline: 'quiet', epoch: id }),
    signal: signal === undefined ? watch.evicting : AbortSignal.any([watch.evicting, signal]),
    onProgress,
    shortcuts,
  });
  if (result.outcome === 'complete') {
    await failures.succeeded(list);
    if (list === 'todo') await emitDueTodos(todos, { clock, log });
  }
  return result;
}
