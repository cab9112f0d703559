/** The port to the stored todos of one workspace and their timers. `src/state` implements it in Redis. */
import type { StoredRecord } from '../detect/stored-record.js';
import type { TodoWatch } from '../detect/rules.js';
import type { TimerChange, TimerKind } from '../detect/watch-todo.js';
import type { ChangeEvent } from '../events/types.js';

/** The time at which a todo becomes due soon or overdue. It is stored and removed together with the todo. */
export interface Timer {
  readonly kind: TimerKind;
  /** The todo's key. */
  readonly key: string;
  readonly atMs: number;
}

/** Ms since the epoch; null: no timer of this kind. */
export type TimerTimes = Readonly<Record<TimerKind, number | null>>;

/** `version` is different after every change of what is stored about the todo. */
export interface StoredTodo {
  readonly known: StoredRecord;
  readonly version: Buffer;
}

/** The last complete sweep of the list. */
export interface LastSweep {
  readonly sweepId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly completedAt: string;
}

export interface TodoStore {
  lastSweep(): Promise<LastSweep | null>;
  /** The timers up to and including this time, the earliest first. */
  due(upToMs: number, page: { offset: number; count: number }): Promise<Timer[]>;
  /** The time of the earliest timer after this time; null when there is none. */
  nextAfter(ms: number): Promise<number | null>;
  todos(keys: readonly string[]): Promise<(StoredTodo | null)[]>;
  /** The timers of these todos. */
  times(keys: readonly string[]): Promise<TimerTimes[]>;
  /**
   * Appends the event (if there is one) and removes the timer, in one step. `moved`: the timer or the todo has changed since the
   * event was built; nothing was done. `waits`: the todo is missing from the list, or something about it is undecided; the timer stays.
   */
  fire(timer: Timer, todo: StoredTodo | null, event: ChangeEvent | null): Promise<'fired' | 'moved' | 'waits'>;
  /** The options by which all timers were last set; null when todos are not watched. */
  watchedAs(): Promise<TodoWatch | null>;
  /** Every stored todo, in chunks. */
  everyTodo(): AsyncIterable<readonly (readonly [key: string, todo: StoredTodo])[]>;
  /** Sets timers of a todo, unless the todo has changed since. */
  set(key: string, todo: StoredTodo, timers: readonly TimerChange[]): Promise<void>;
  /** Records the options by which all timers are now set. Null: todos are not watched; the timers stay. */
  watchAs(watch: TodoWatch | null): Promise<void>;
}
