/**
 * Tells of the todos whose time has come. A clock alone does not know whether a todo is still open: what fires is what a
 * complete sweep begun after its moment has shown to be so. Until then the timer waits.
 */
import { isDone } from '../detect/todo.js';
import { buildEvent } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import { isLate } from './timing.js';
import type { Look, RememberedTodo, Timer, TodoStore } from './store.js';

export interface FireOptions {
  workspace: string;
  store: TodoStore;
  dueSoonMs: number;
  clock: Clock;
}

const CHUNK = 100;

/** @returns how many events were appended */
export async function fireDue({ store, clock, ...options }: FireOptions): Promise<number> {
  const last = await store.lastLook();
  if (last === null) return 0;
  const upToMs = Math.min(clock.now(), Date.parse(last.startedAt));
  let fired = 0;
  for (let offset = 0; ;) {
    const timers = await store.due(upToMs, { offset, count: CHUNK });
    const todos = await store.todos(timers.map(({ key }) => key));
    for (const [index, timer] of timers.entries()) {
      const todo = todos[index] ?? null;
      const outcome = await fireOne(timer, todo, { ...options, store, last, nowMs: clock.now() });
      if (outcome === 'told') fired += 1;
      // What stays would be found again.
      if (outcome === 'stays') offset += 1;
    }
    if (timers.length < CHUNK) return fired;
  }
}

interface Moment extends Omit<FireOptions, 'clock'> {
  last: Look;
  nowMs: number;
}

async function fireOne(timer: Timer, todo: RememberedTodo | null, moment: Moment): Promise<'told' | 'gone' | 'stays'> {
  // The look that should confirm it showed something else, and perhaps something old: the next one decides.
  if (todo?.known.doubt?.sweep === moment.last.sweepId) return 'stays';
  const event = todo !== null && isOpen(todo) ? timerEvent(timer, todo, moment) : null;
  const outcome = await moment.store.fire(timer, todo, event);
  // One that moved has been given its new moment; it is found there, or by the next look.
  if (outcome !== 'fired') return 'stays';
  return event === null ? 'gone' : 'told';
}

/** Without its image, a todo that has a timer is open: the two are written together. */
function isOpen({ known: { record, fields, gone } }: RememberedTodo): boolean {
  return gone === undefined && (record === null ? fields !== undefined : isDone(record) === false);
}

function timerEvent(
  { kind, key, atMs }: Timer,
  { known }: RememberedTodo,
  { workspace, dueSoonMs, last, nowMs }: Moment,
): ChangeEvent {
  const due = isoTime(kind === 'overdue' ? atMs : atMs + dueSoonMs);
  const late = isLate(atMs, { learntAt: known.dueSince ?? null, last, nowMs });
  return buildEvent({
    workspace,
    list: 'todo',
    verb: kind,
    recordId: key,
    time: isoTime(atMs),
    // A todo opened again, or moved away and back, has another sequence by then.
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
