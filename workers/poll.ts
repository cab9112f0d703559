/** The role `poll`: sweeps each list when it is due, and uses its shortcuts while it waits. */
import type { ListName } from '../src/crm/lists/lists.js';
import type { Part } from '../src/kit/lifecycle.js';
import { runLoop } from '../src/kit/loop.js';
import type { SweepProgress } from '../src/feed/list/list.js';
import { watchList } from '../src/feed/list/loop.js';
import { firstLoad, nextSweepMs, walkLoadOf } from '../src/feed/list/schedule.js';
import { nextTodoSweepMs } from '../src/feed/todos/monitor.js';
import type { AppContext } from './context.js';
import { refuseToReport, sweepOnce } from './sweeps.js';
import { enabledLists, listIn, type Workspace, type Workspaces } from './workspaces.js';

/** How soon this process notices that another one changed the times, or that they were lost. */
const RECHECK_MS = 2_000;
/** A list is watched for this long, then left alone for a moment, in which a sweep that a person asks for gets it. */
const WATCH_MS = 4_000;
const LEAVE_MS = 1_000;
/** The same for a list that waits for long and has no page to read before. */
const IDLE_MS = 5_000;
/** Every answer is progress. It takes at most 30 s, and so does the wait before the next try. */
const STALL_MS = 180_000;

interface Turn {
  list: ListName;
  signal: AbortSignal;
  /** Called with the progress of a sweep. */
  alive: () => void;
}

/** One loop per list. The lease decides which process sweeps. Redis keeps the last sweeps' times, not the schedule. */
export function pollRole(context: AppContext, workspaces: Workspaces) {
  const { watch, log, clock, loops } = context;
  const running = new Map<string, { stop: AbortController; ended: Promise<unknown> }>();
  let isStarted = false;
  const poll = (workspace: Workspace, list: ListName, signal: AbortSignal): Promise<void> => {
    workspace.asked.begin(list, listIn(workspace, list));
    return runLoop({
      name: `poll ${workspace.name} ${list}`,
      run: (turn, alive) => takeTurn(context, workspace, { list, signal: turn, alive }),
      ready: (within) => watch.untilUsable(within),
      ...{ signal, stallMs: STALL_MS, log, clock, loops },
    });
  };
  const add = (workspace: Workspace): void => {
    if (!isStarted || workspace.state !== 'active') return;
    const stop = new AbortController();
    const lists = enabledLists(workspace.config).map((list) => poll(workspace, list, stop.signal));
    running.set(workspace.name, { stop, ended: Promise.all(lists) });
  };
  /** Aborts running sweeps; their checkpoints are kept. */
  const remove = async (name: string): Promise<void> => {
    const one = running.get(name);
    one?.stop.abort(new Error('The poller is stopping.'));
    await one?.ended;
    running.delete(name);
  };
  return {
    name: 'poller',
    start() {
      isStarted = true;
      workspaces.all().forEach(add);
      return Promise.resolve();
    },
    ...{ add, remove },
    async stop() {
      isStarted = false;
      await Promise.all([...running.keys()].map(remove));
    },
  } satisfies Part & Record<string, unknown>;
}

/** @returns how long to wait before the list's times are read again, in ms */
async function takeTurn(context: AppContext, workspace: Workspace, turn: Turn): Promise<number> {
  const { clock } = context;
  const waitMs = await dueInMs(context, workspace, turn.list);
  if (waitMs > LEAVE_MS) {
    const untilMs = clock.monotonic() + Math.min(waitMs - LEAVE_MS, WATCH_MS);
    const againMs = (await watchWaiting(context, workspace, { ...turn, untilMs })) - clock.monotonic();
    return Math.max(LEAVE_MS, Math.min(againMs, waitMs, IDLE_MS));
  }
  if (waitMs > 0) return Math.min(waitMs, RECHECK_MS);
  return Math.min(await sweepDue(context, workspace, turn), RECHECK_MS);
}

/** By its schedule and last failure, or earlier because a todo becomes due or an epoch has begun. In ms from now. */
async function dueInMs({ clock, guard }: AppContext, workspace: Workspace, list: ListName): Promise<number> {
  const { schedule, todos, budget, failures, asked } = workspace;
  const [times, wakeMs] = await Promise.all([schedule.times(list), list === 'todo' ? nextTodoSweepMs(todos) : null]);
  const pace = listIn(workspace, list);
  const { lastSweep, failure } = times;
  asked.stored(list, lastSweep, pace);
  const load = walkLoadOf(lastSweep, pace);
  if (load !== null) budget.weigh(list, load);
  // A failure that this process has not met says nothing about now: its token may be another one.
  if (failure !== null && !failures.isFailing(list)) return 0;
  const epoch = guard.state(workspace.name)?.epoch ?? 0;
  if (failure === null && lastSweep !== null && (lastSweep.epoch ?? 0) < epoch) return 0;
  const nowMs = clock.now();
  return nextSweepMs(times, { ...pace, wakeMs, nowMs }) - nowMs;
}

/** @returns how long the lease of another process may last, in ms; 0 when this process swept the list */
async function sweepDue(context: AppContext, workspace: Workspace, { list, signal, alive }: Turn): Promise<number> {
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

/**
 * Uses the shortcuts of a list that waits, until `untilMs` of the monotonic clock at the latest. A failure is the next sweep's to
 * report: it reads the same list and the same Redis.
 * @returns when they may be due again, by the monotonic clock
 */
async function watchWaiting(
  { watch, guard, log, clock, capacity }: AppContext,
  workspace: Workspace,
  { list, signal, alive, untilMs }: Turn & { untilMs: number },
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
