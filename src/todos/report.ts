/**
 * Counts the open, due, overdue and completed todos, in total, per person in charge and per team, and how long they take. It reads the
 * stored todos and sends no request to the CRM.
 */
import { setImmediate } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';
import type { UncheckedRecord } from '../crm/record.js';
import { createdAtOf, deadlineOf, doneAtOf, isDone, ownerOf, teamsOf } from '../detect/todo.js';
import { ChangefeedError } from '../errors.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import { parseDuration } from '../runtime/duration.js';
import type { TodoCounts, TodoDay, TodoGroup, TodosReport, TodoSums, WorkspaceTodos } from './counts.js';
import type { TodoStore } from './store.js';

export interface TodosCall {
  /** Only this workspace. @defaultValue all */
  workspace?: string | undefined;
  /** Start of the period, which ends now: a duration (`'7d'`) or an ISO 8601 time. @defaultValue '30d' */
  since?: string | undefined;
}

export interface Period {
  timeZone: string;
  sinceMs: number;
  nowMs: number;
}

export interface ReportedTodos {
  name: string;
  timeZone: string;
  /** False: the list of todos is disabled. */
  enabled: boolean;
  store: TodoStore;
}

const DEFAULT_SINCE = '30d';
/** Then the process does its other work: some milliseconds of counting. */
const TODOS_IN_A_ROW = 50;

/**
 * Workspaces whose list of todos is disabled are left out, unless all of them are.
 * @throws ChangefeedError CF_USAGE when there is no such workspace or time, or todos are disabled or kept without images
 */
export async function reportTodos(
  workspaces: readonly ReportedTodos[],
  { workspace, since = DEFAULT_SINCE }: TodosCall,
  clock: Clock,
): Promise<TodosReport> {
  const nowMs = clock.now();
  const sinceMs = sinceOf(since, nowMs);
  const wanted = workspaces.filter(({ name }) => workspace === undefined || name === workspace);
  if (wanted.length === 0) {
    const names = workspaces.map(({ name }) => name).join(', ');
    throw usage(`There is no workspace "${workspace ?? ''}". The configuration names ${names}.`);
  }
  const enabled = wanted.filter((one) => one.enabled);
  if (enabled.length === 0) throw disabled(wanted.map(({ name }) => name));
  const counted = enabled.map((one) => countTodos(one, { sinceMs, nowMs }));
  return { since: isoTime(sinceMs), at: isoTime(nowMs), workspaces: await Promise.all(counted) };
}

function sinceOf(text: string, nowMs: number): number {
  const duration = parseDuration(text);
  const ms = duration === undefined ? (/^\d{4}-\d{2}-\d{2}/u.test(text) ? Date.parse(text) : NaN) : nowMs - duration;
  if (ms >= 0 && ms <= nowMs) return ms;
  throw usage(
    `The period begins at "${text}"; allowed: a duration such as 7d, or a time in the past such as 2026-03-01.`,
  );
}

async function countTodos(
  { name, timeZone, store }: ReportedTodos,
  period: { sinceMs: number; nowMs: number },
): Promise<WorkspaceTodos> {
  const tally = new TodoTally({ ...period, timeZone });
  for await (const todos of store.everyTodo()) {
    for (const [at, [, { known }]] of todos.entries()) {
      // Chunks that are read ahead come without a pause, and time zones take long.
      if (at % TODOS_IN_A_ROW === 0) await setImmediate();
      if (known.record !== null) tally.add(known.record);
      else if (known.gone === undefined) throw withoutImages(name);
    }
  }
  const last = await store.lastSweep();
  return { workspace: name, timeZone, asOf: last?.startedAt ?? null, ...tally.sums() };
}

function disabled(workspaces: readonly string[]): ChangefeedError {
  return usage(
    `The list "todo" is disabled (${workspaces.join(', ')}), so there is nothing to count. Set lists.todo.enabled to true and run: changefeed sweep todo.`,
  );
}

function withoutImages(workspace: string): ChangefeedError {
  return usage(
    `Workspace "${workspace}" keeps todos without their contents (images: false), so there is nothing to count. Set images: true for the list "todo" and run: changefeed sweep todo.`,
  );
}

function usage(message: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message });
}

/** Takes todos one by one, so that a large list is never in memory as a whole. */
export class TodoTally {
  readonly #period: Period;
  readonly #today: { from: number; to: number };
  readonly #total = new Sum();
  readonly #people = new Groups();
  readonly #teams = new Groups();
  readonly #days = new Map<string, Groups>();

  constructor(period: Period) {
    this.#period = period;
    this.#today = dayOf(period);
  }

  add(todo: UncheckedRecord): void {
    const facts = this.#factsOf(todo);
    const teams = teamsOf(todo);
    if (facts.completedOn !== null) this.#dayOf(facts.completedOn).of(ownerOf(todo)).add(facts);
    for (const sum of [
      this.#total,
      this.#people.of(ownerOf(todo)),
      ...(teams.length === 0 ? [this.#teams.of(null)] : teams.map((team) => this.#teams.of(team))),
    ]) {
      sum.add(facts);
    }
  }

  sums(): TodoSums {
    return {
      total: this.#total.counts(),
      people: this.#people.list(),
      teams: this.#teams.list(),
      days: this.#listDays(),
    };
  }

  #dayOf(date: string): Groups {
    const known = this.#days.get(date) ?? new Groups();
    this.#days.set(date, known);
    return known;
  }

  #listDays(): TodoDay[] {
    const days = [...this.#days].map(([date, groups]) => {
      const people = groups.list().map(({ id, name, completed }) => ({ id, name, completed }));
      return { date, completed: people.reduce((sum, one) => sum + one.completed, 0), people };
    });
    return days.sort((a, b) => (a.date < b.date ? -1 : 1));
  }

  #factsOf(todo: UncheckedRecord): TodoFacts {
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
      // The deadline of a date without a time of day is the first moment of the next day.
      dueToday: open && deadline !== null && deadline > this.#today.from && deadline <= this.#today.to,
      overdue: open && deadline !== null && deadline <= nowMs,
      completed,
      completedOn: completed && doneAt !== null ? dateOf(doneAt, timeZone) : null,
      wasDue: done !== null && within(deadline),
      wasDone: done === true,
      // A creation date can be edited, so it may lie after the completion.
      tookMs: completed && doneAt !== null && createdAt !== null && doneAt >= createdAt ? doneAt - createdAt : null,
    };
  }
}

interface TodoFacts {
  open: boolean;
  dueToday: boolean;
  overdue: boolean;
  completed: boolean;
  wasDue: boolean;
  wasDone: boolean;
  tookMs: number | null;
  completedOn: string | null;
}

class Sum {
  readonly #counts = { open: 0, dueToday: 0, overdue: 0, completed: 0 };
  #due = 0;
  #dueAndDone = 0;
  readonly #took: number[] = [];

  add({ wasDue, wasDone, tookMs, ...facts }: Omit<TodoFacts, 'completedOn'>): void {
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

function dateOf(ms: number, timeZone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate().toString();
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
