/** The clock does not show an open todo: a timer fires after a complete sweep begun later that found it open. */
import { isStored } from '../detect/record-state.js';
import { isDone } from '../detect/todo.js';
import { buildEvent } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import type { StoredTodo, Timer, TodoStore } from './todo-store.js';

interface LastTodoSweep {
  readonly sweepId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly completedAt: string;
}

export interface FireOptions {
  workspace: string;
  store: TodoStore;
  clock: Clock;
}

const CHUNK = 100;

/** @returns how many events were appended */
export async function fireDue({ store, clock, ...options }: FireOptions): Promise<number> {
  const last = await store.lastSweep();
  if (last === null) return 0;
  const upToMs = Math.min(clock.now(), Date.parse(last.startedAt));
  let fired = 0;
  for (let offset = 0; ;) {
    const timers = await store.due(upToMs, { offset, count: CHUNK });
    const keys = timers.map(({ key }) => key);
    const todos = await store.todos(keys);
    // After the todos: one that is given another due time in between is not as it was read, and stays.
    const times = await store.times(keys);
    for (const [index, timer] of timers.entries()) {
      const todo = todos[index] ?? null;
      const dueMs = times[index]?.overdue ?? null;
      const outcome = await fireOne(timer, todo, { ...options, store, last, dueMs, nowMs: clock.now() });
      if (outcome === 'emitted') fired += 1;
      // A timer that stays would be found again by the next read.
      if (outcome === 'stays') offset += 1;
    }
    if (timers.length < CHUNK) return fired;
  }
}

interface Moment extends Omit<FireOptions, 'clock'> {
  last: LastTodoSweep;
  /** When the todo is overdue, by its timer; null: it has none any more, and is not due soon either. */
  dueMs: number | null;
  nowMs: number;
}

async function fireOne(
  timer: Timer,
  todo: StoredTodo | null,
  moment: Moment,
): Promise<'emitted' | 'removed' | 'stays'> {
  const { dueMs } = moment;
  const event = todo !== null && dueMs !== null && isOpen(todo) ? timerEvent(timer, todo, { ...moment, dueMs }) : null;
  const outcome = await moment.store.fire(timer, todo, event);
  // A timer that moved has a new time: it is found there, or after the next sweep.
  if (outcome !== 'fired') return 'stays';
  return event === null ? 'removed' : 'emitted';
}

function isOpen({ known }: StoredTodo): boolean {
  return isStored(known) && isDone(known.record ?? {}) === false;
}

function timerEvent(
  { kind, key, atMs }: Timer,
  { known }: StoredTodo,
  { workspace, dueMs, last, nowMs }: Moment & { dueMs: number },
): ChangeEvent {
  // Not `atMs` and today's lead time: the timer may have been set with another one.
  const due = isoTime(dueMs);
  const late = isLate(atMs, { learntAt: known.dueSince ?? null, last, nowMs });
  return buildEvent({
    workspace,
    list: 'todo',
    verb: kind,
    recordId: key,
    time: isoTime(atMs),
    // The sequence makes the id differ for a todo that was reopened, or whose due time moved away and back.
    contentDigest: due,
    data: {
      before: null,
      after: { ...known.record, id: key },
      changes: [],
      sequence: known.sequence,
      class: 'edited',
      detectedBy: 'clock',
      observedAt: isoTime(nowMs),
      sweep: last.sweepId,
      due,
      ...(late ? { late } : {}),
    },
  });
}

/** An event is on time when it is emitted within this of its time, plus the time that sweeps take. */
const ON_TIME_MS = 30_000;

/** A due time in the past when it was first seen (a todo created for yesterday) does not make the event late. */
function isLate(
  atMs: number,
  { learntAt, last, nowMs }: { learntAt: string | null; last: LastTodoSweep; nowMs: number },
): boolean {
  const from = learntAt === null ? atMs : Math.max(atMs, Date.parse(learntAt));
  return nowMs - from > ON_TIME_MS + 4 * Math.max(0, tookMs(last));
}

export function tookMs({ startedAt, completedAt }: LastTodoSweep): number {
  return Date.parse(completedAt) - Date.parse(startedAt);
}
