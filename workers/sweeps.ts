/** Sweeps that a person or a program asks for, and what each does around `sweepList`. No role is needed. */
import type { ListName } from '../src/crm/lists/lists.js';
import { ChangefeedError, usage } from '../src/kit/errors.js';
import type { SweepProgress } from '../src/feed/list/list.js';
import { sweepList, type SweepResult } from '../src/feed/list/loop.js';
import type { Shortcuts } from '../src/feed/list/shortcuts/shortcuts.js';
import type { SweepSummary } from '../src/feed/store/sweep-state.js';
import { emitDueTodos } from '../src/feed/todos/monitor.js';
import type { AppContext } from './context.js';
import { enabledLists, listIn, type Workspace, type Workspaces } from './workspaces.js';

/** Which lists are swept. */
export interface SweepCall {
  /** @defaultValue all enabled lists */
  lists?: readonly ListName[] | undefined;
  /** Only this workspace. @defaultValue all */
  workspace?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called after each page. */
  onProgress?: ((progress: SweepProgress) => void) | undefined;
}

/** The outcome of one sweep of a list. */
export type ListSweep = { workspace: string; list: ListName } & (
  { outcome: 'complete'; summary: SweepSummary } | { outcome: 'incomplete'; error: unknown }
);

/** @throws ChangefeedError CF_USAGE when there is no such workspace, or none that is swept has the list */
export async function sweepNow(
  context: AppContext,
  workspaces: Workspaces,
  { workspace, lists, ...options }: SweepCall = {},
): Promise<ListSweep[]> {
  const active = ({ state }: Workspace): boolean => state === 'active';
  const chosen = workspace === undefined ? workspaces.all().filter(active) : [workspaces.get(workspace)];
  const [resting] = chosen.filter((one) => !active(one));
  if (resting !== undefined) throw usage(`sweep: the workspace "${resting.name}" is ${resting.state}.`);
  const sweeps = chosen.flatMap((one) =>
    listsToSweep(one, lists, chosen).map((list) => sweepOneNow(context, one, { ...options, list })),
  );
  return await Promise.all(sweeps);
}

/** All that are enabled by default. A list that only another chosen workspace has is left out. */
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

interface OneSweep {
  list: ListName;
  shortcuts?: Shortcuts | undefined;
  again?: boolean;
  signal?: AbortSignal | undefined;
  onProgress?: SweepCall['onProgress'];
}

/** Another process's sweep may have begun before the call, so it is waited for; its second one counts. */
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

/** In a state of another format, not even a failure is written. */
export function refuseToReport(error: unknown): void {
  if (error instanceof ChangefeedError && error.code === 'CF_STATE_FORMAT') throw error;
}

/** Aborted when Redis begins to evict keys: a record whose key was evicted would be taken for a new one. */
export async function sweepOnce(
  { guard, watch, clock, log }: AppContext,
  workspace: Workspace,
  { list, signal, onProgress, shortcuts, again }: OneSweep,
): Promise<SweepResult> {
  const refusal = watch.refusal();
  if (refusal !== null) throw refusal;
  const { name, feed, failures, todos } = workspace;
  const { rules, baseline, removals, creations } = listIn(workspace, list);
  const { after: afterMs, ...limits } = removals;
  const { lostAt } = await guard.check(name);
  const result = await sweepList(feed, {
    list,
    rules,
    removals: { ...limits, afterMs },
    creations,
    // After a loss of the state the records are not new: the first sweep is quiet, whatever `baseline` says.
    baseline: lostAt === null ? baseline : 'quiet',
    signal: signal === undefined ? watch.evicting : AbortSignal.any([watch.evicting, signal]),
    onProgress,
    shortcuts,
    again,
  });
  if (result.outcome === 'complete') {
    await failures.succeeded(list);
    if (list === 'todo') await emitDueTodos(todos, { clock, log });
  }
  return result;
}
