/** Emits the todos that have become due, and says when the list must be swept early because one becomes due. */
import { messageOf } from '../../kit/errors.js';
import { isStored } from '../detect/record-state.js';
import type { TodoWatch } from '../detect/rules.js';
import { timersOf, type TimersOfTodo } from '../detect/watch-todo.js';
import type { Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import { fireDue, tookMs } from './fire.js';
import type { TimerTimes, TodoStore } from './todo-store.js';

export interface MonitoredTodos {
  workspace: string;
  /** Null: todos are not watched. */
  watch: TodoWatch | null;
  store: TodoStore;
}

/** Sweeps caused by a timer start at least this far apart. */
const LEAST_BETWEEN_MS = 5_000;

/** After each complete sweep of todos. A failure is logged only: the next sweep emits the rest. */
export async function emitDueTodos(
  { workspace, watch, store }: MonitoredTodos,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  try {
    // After every sweep, not once per process: the timers are part of the state, and the state may have been lost.
    await rebuildTimers(store, watch, clock);
    if (watch === null) return;
    const events = await fireDue({ workspace, store, clock });
    if (events > 0) log.info({ workspace, events }, 'todos have become due');
  } catch (error) {
    log.error({ workspace, error: messageOf(error) }, 'due todos were not emitted; the next sweep emits them');
  }
}

/** Ms since the epoch. Sweeps by timers take at most a third of the time: large lists would never pause. */
export async function nextTodoSweepMs({ watch, store }: MonitoredTodos): Promise<number | null> {
  const last = watch === null ? null : await store.lastSweep();
  if (last === null) return null;
  const startedMs = Date.parse(last.startedAt);
  const timerMs = await store.nextAfter(startedMs);
  return timerMs === null ? null : Math.max(timerMs, startedMs + Math.max(LEAST_BETWEEN_MS, 3 * tookMs(last)));
}

/** After new options: as in a baseline, past times yield no event. Timers past but not fired stay. */
export async function rebuildTimers(store: TodoStore, watch: TodoWatch | null, clock: Clock): Promise<void> {
  const before = await store.watchedAs();
  if (watch === null) {
    if (before !== null) await store.watchAs(null);
    return;
  }
  if (before?.timeZone === watch.timeZone && before.dueSoonMs === watch.dueSoonMs) return;
  for await (const todos of store.everyTodo()) {
    const nowMs = clock.now();
    const times = await store.times(todos.map(([key]) => key));
    // Together: one by one, 100,000 todos would take minutes in which the list is not swept.
    const setting = todos.map(async ([key, todo], index) => {
      const { record } = todo.known;
      const set = times[index];
      if (set === undefined) return;
      const isPending = (atMs: number | null): boolean => before !== null && atMs !== null && atMs <= nowMs;
      if (!isStored(todo.known)) return;
      const [soon, over] = record === null ? futureOf(set, nowMs) : timersOf(record, watch, { nowMs, quiet: true });
      // Its due time is the same, and "due soon" has fired: the id would be the same as well.
      const wasSoon = set.overdue !== null && set.overdue === over.atMs && set.due_soon === null;
      const timers = [wasSoon ? { ...soon, atMs: null } : soon, over];
      const changes = timers.filter(({ kind, atMs }) => atMs !== set[kind] && (atMs !== null || !isPending(set[kind])));
      if (changes.length > 0) await store.set(key, todo, changes);
    });
    await Promise.all(setting);
  }
  await store.watchAs(watch);
}

/** The due time of a todo without an image is known by its timer alone. */
function futureOf(set: TimerTimes, nowMs: number): TimersOfTodo {
  const unlessPast = (atMs: number | null): number | null => (atMs !== null && atMs <= nowMs ? null : atMs);
  return [
    { kind: 'due_soon', atMs: unlessPast(set.due_soon) },
    { kind: 'overdue', atMs: unlessPast(set.overdue) },
  ];
}
