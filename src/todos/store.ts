/** What the todo monitor needs to remember of one workspace, as a port: the room that knows Redis implements it. */
import type { StoredRecord } from '../detect/known.js';
import type { TodoWatch } from '../detect/rules.js';
import type { TimerChange, TimerKind } from '../detect/watch.js';
import type { ChangeEvent } from '../events/types.js';

/** A moment at which a todo is to be spoken of. It was set with the todo's image, and goes with it. */
export interface Timer {
  readonly kind: TimerKind;
  /** The todo's key. */
  readonly key: string;
  readonly atMs: number;
}

/** A todo as it is remembered. `version` is any other as soon as anything is learnt about it. */
export interface RememberedTodo {
  readonly known: StoredRecord;
  readonly version: Buffer;
}

/** The last complete look at the list. */
export interface Look {
  readonly sweepId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly completedAt: string;
}

export interface TodoStore {
  lastLook(): Promise<Look | null>;
  /** Timers whose moment has come by then, the earliest first. */
  due(upToMs: number, page: { offset: number; count: number }): Promise<Timer[]>;
  /** The earliest moment after that one; null when there is none. */
  nextAfter(ms: number): Promise<number | null>;
  todos(keys: readonly string[]): Promise<(RememberedTodo | null)[]>;
  /**
   * Appends the event (or nothing) and takes the timer away, in one step. `moved`: the timer or the todo is not what it was
   * when the event was made. `waits`: the todo is missing, or something about it is undecided; the timer stays.
   */
  fire(timer: Timer, todo: RememberedTodo | null, event: ChangeEvent | null): Promise<'fired' | 'moved' | 'waits'>;
  /** How todos were watched when all their timers were set; null when they never were. */
  watchedAs(): Promise<TodoWatch | null>;
  /** Every todo remembered, in chunks. */
  everyTodo(): AsyncIterable<readonly (readonly [key: string, todo: RememberedTodo])[]>;
  /** Sets timers of a todo, unless it has changed since. */
  set(key: string, todo: RememberedTodo, timers: readonly TimerChange[]): Promise<void>;
  /** From here on all timers are set as this says. Null: todos are not watched, and no timer is left. */
  watchAs(watch: TodoWatch | null): Promise<void>;
}
