/** The role `poll`: sweeps each list when it is due, and uses its shortcuts while it waits. */
import type { ListName } from '../src/crm/lists/lists.js';
import type { Part } from '../src/kit/lifecycle.js';
import { createPoller } from '../src/feed/list/poller.js';
import type { SweepProgress } from '../src/feed/list/list.js';
import { watchList } from '../src/feed/list/loop.js';
import { firstLoad, nextSweepMs, walkLoadOf } from '../src/feed/list/schedule.js';
import { nextTodoSweepMs } from '../src/feed/todos/monitor.js';
import type { AppContext } from './context.js';
import { refuseToReport, sweepOnce } from './sweeps.js';
import { enabledLists, listIn, type Workspace, type Workspaces } from './workspaces.js';

export function pollRole(context: AppContext, workspaces: Workspaces): Part {
  const { watch, log, clock, loops } = context;
  const poller = createPoller({
    lists: workspaces
      .all()
      .flatMap(({ name, config }) => enabledLists(config).map((list) => ({ workspace: name, list }))),
    dueInMs: ({ workspace, list }) => dueInMs(context, workspaces.get(workspace), list),
    sweep: ({ workspace, list }, turn) => sweepDue(context, workspaces.get(workspace), { list, ...turn }),
    watch: ({ workspace, list }, turn) => watchWaiting(context, workspaces.get(workspace), { list, ...turn }),
    ready: (signal) => watch.untilUsable(signal),
    log,
    clock,
    loops,
  });
  return {
    name: 'poller',
    start() {
      for (const workspace of workspaces.all())
        for (const list of enabledLists(workspace.config)) workspace.asked.begin(list, listIn(workspace, list));
      poller.start();
      return Promise.resolve();
    },
    stop: () => poller.stop(),
  };
}

/** By its schedule and last failure, or earlier because a todo becomes due or an epoch has begun. In ms from now. */
async function dueInMs({ clock, guard }: AppContext, workspace: Workspace, list: ListName): Promise<number> {
  const { schedule, todos, budget, failures, asked } = workspace;
  const [times, wakeMs] = await Promise.all([schedule.times(list), list === 'todo' ? nextTodoSweepMs(todos) : null]);
  const pace = listIn(workspace, list);
  asked.stored(list, times, pace);
  const load = walkLoadOf(times, pace);
  if (load !== null) budget.weigh(list, load);
  // A failure that this process has not met says nothing about now: its token may be another one.
  if (times.failure !== null && !failures.isFailing(list)) return 0;
  const { lastSweep, failure } = times;
  const epoch = guard.state(workspace.name)?.epoch ?? 0;
  if (failure === null && lastSweep !== null && (lastSweep.epoch ?? 0) < epoch) return 0;
  const nowMs = clock.now();
  return nextSweepMs(times, { ...pace, wakeMs, nowMs }) - nowMs;
}

/** @returns how long the lease of another process may last, in ms; 0 when this process swept the list */
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
    const shortcuts = workspace.shortcuts.get(list);
    const onProgress = ({ expected, pages }: SweepProgress): void => {
      alive();
      if (expected === null) workspace.budget.weigh(list, firstLoad(pages));
    };
    const again = workspace.failures.isFailing(list);
    const sweep = { list, signal, onProgress, shortcuts, again };
    const result = await context.capacity.run(() => sweepOnce(context, workspace, sweep), { signal, alive });
    if (result.outcome === 'held') {
      log.debug(where, 'list is being swept by another process');
      workspace.asked.asked(list);
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

/** A failure is the next sweep's to report: it reads the same list and the same Redis. */
async function watchWaiting(
  { watch, guard, log, clock, capacity }: AppContext,
  workspace: Workspace,
  { list, signal, alive, untilMs }: { list: ListName; signal: AbortSignal; alive: () => void; untilMs: number },
): Promise<number> {
  const { name, feed } = workspace;
  const shortcuts = workspace.shortcuts.get(list);
  if (shortcuts === undefined || watch.refusal() !== null || capacity.waiting.count > 0) return untilMs;
  // The lease, and what is stored of the list, are needed for a page only.
  if (shortcuts.restsUntil(clock.monotonic()) > untilMs) return shortcuts.restsUntil(clock.monotonic());
  workspace.alive.set(list, alive);
  try {
    const { rules, creations, baseline } = listIn(workspace, list);
    await guard.check(name);
    const until = { signal: AbortSignal.any([watch.evicting, signal]), shortcuts, untilMs };
    await watchList(feed, { list, rules, creations, baseline, ...until });
  } catch (error) {
    signal.throwIfAborted();
    log.debug({ workspace: name, list, error: String(error) }, 'shortcuts of a waiting list stopped');
  } finally {
    workspace.alive.delete(list);
  }
  return shortcuts.restsUntil(clock.monotonic());
}
