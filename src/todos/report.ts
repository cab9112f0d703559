/** What todos come to: how many are open, due, over and done, for whom, and how long they take. Pure. */
import { Temporal } from 'temporal-polyfill';
import type { UncheckedRecord } from '../crm/record.js';
import { createdAtOf, deadlineOf, doneAtOf, isDone, ownerOf, teamsOf } from '../detect/todo.js';

/** Of the todos that are in the list now. */
export interface TodoCounts {
  open: number;
  /** Open, and due on this calendar day, an hour that is over included. */
  dueToday: number;
  /** Open, and their time is over. */
  overdue: number;
  /** Done within the period. */
  completed: number;
  /** Of those that were due within the period, the share that is done, 0 to 1; null when none was. */
  completionRate: number | null;
  /** From creation to completion, ms, of those completed within the period; null when none was. */
  medianMsToComplete: number | null;
}

/** A person in charge, or a team. `id` is null for the todos that have none. */
export interface TodoGroup extends TodoCounts {
  id: string | null;
  name: string | null;
}

export interface TodoSums {
  total: TodoCounts;
  /** By person in charge: who has most to do first. */
  people: TodoGroup[];
  /** By team; a todo of two teams counts for both. */
  teams: TodoGroup[];
}

export interface Period {
  timeZone: string;
  sinceMs: number;
  nowMs: number;
}

/** Takes todos one by one, so that a large list is never held whole. */
export class TodoTally {
  readonly #period: Period;
  readonly #today: { from: number; to: number };
  readonly #total = new Sum();
  readonly #people = new Groups();
  readonly #teams = new Groups();

  constructor(period: Period) {
    this.#period = period;
    this.#today = dayOf(period);
  }

  add(todo: UncheckedRecord): void {
    const facts = this.#factsOf(todo);
    const teams = teamsOf(todo);
    for (const sum of [
      this.#total,
      this.#people.of(ownerOf(todo)),
      ...(teams.length === 0 ? [this.#teams.of(null)] : teams.map((team) => this.#teams.of(team))),
    ]) {
      sum.add(facts);
    }
  }

  sums(): TodoSums {
    return { total: this.#total.counts(), people: this.#people.list(), teams: this.#teams.list() };
  }

  #factsOf(todo: UncheckedRecord): Facts {
    const { sinceMs, nowMs, timeZone } = this.#period;
    const within = (ms: number | null): boolean => ms !== null && ms >= sinceMs && ms <= nowMs;
    const done = isDone(todo);
    const deadline = deadlineOf(todo, timeZone);
    const doneAt = done === true ? msOf(doneAtOf(todo)) : null;
    const open = done === false;
    const createdAt = msOf(createdAtOf(todo));
    const completed = within(doneAt);
    return {
      open,
      // A date without a time of day is over with the first moment of the next.
      dueToday: open && deadline !== null && deadline > this.#today.from && deadline <= this.#today.to,
      overdue: open && deadline !== null && deadline <= nowMs,
      completed,
      wasDue: done !== null && within(deadline),
      wasDone: done === true,
      // A creation date can be edited.
      tookMs: completed && doneAt !== null && createdAt !== null && doneAt >= createdAt ? doneAt - createdAt : null,
    };
  }
}

interface Facts {
  open: boolean;
  dueToday: boolean;
  overdue: boolean;
  completed: boolean;
  wasDue: boolean;
  wasDone: boolean;
  tookMs: number | null;
}

class Sum {
  readonly #counts = { open: 0, dueToday: 0, overdue: 0, completed: 0 };
  #due = 0;
  #dueAndDone = 0;
  readonly #took: number[] = [];

  add({ wasDue, wasDone, tookMs, ...facts }: Facts): void {
    for (const name of ['open', 'dueToday', 'overdue', 'completed'] as const) if (facts[name]) this.#counts[name] += 1;
    if (wasDue) this.#due += 1;
    if (wasDue && wasDone) this.#dueAndDone += 1;
    if (tookMs !== null) this.#took.push(tookMs);
  }

  counts(): TodoCounts {
    return {
      ...this.#counts,
      completionRate: this.#due === 0 ? null : this.#dueAndDone / this.#due,
      medianMsToComplete: medianOf(this.#took),
    };
  }
}

class Groups {
  readonly #groups = new Map<string | null, { id: string | null; name: string | null; sum: Sum }>();

  of(group: { id: string; name: string } | null): Sum {
    const { id, name } = group ?? { id: null, name: null };
    const known = this.#groups.get(id);
    if (known !== undefined) return known.sum;
    const sum = new Sum();
    this.#groups.set(id, { id, name, sum });
    return sum;
  }

  list(): TodoGroup[] {
    const groups = [...this.#groups.values()].map(({ id, name, sum }) => ({ id, name, ...sum.counts() }));
    return groups.sort(
      (a, b) => b.open - a.open || b.completed - a.completed || (a.name ?? '').localeCompare(b.name ?? ''),
    );
  }
}

function dayOf({ nowMs, timeZone }: Period): { from: number; to: number } {
  const start = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).startOfDay();
  return { from: start.epochMilliseconds, to: start.add({ days: 1 }).startOfDay().epochMilliseconds };
}

function medianOf(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

function msOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}
