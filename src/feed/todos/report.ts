/** Counts todos in total, per person in charge and per team, and how long they take. It sends no request to the CRM. */
import { Temporal } from 'temporal-polyfill';
import type { UncheckedRecord } from '../../crm/record.js';
import { isStored } from '../detect/record-state.js';
import { dueText } from '../../crm/todo-fields.js';
import { createdAtOf, deadlineOf, doneAtOf, isDone, ownerOf, teamsOf } from '../detect/todo.js';
import { usage } from '../../kit/errors.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import { parseDuration } from '../../kit/duration.js';
import { giveWay } from '../../kit/give-way.js';
import { readTime } from '../../kit/iso-time.js';
import { shorten } from '../../kit/printable.js';
import type { TodoCounts, TodoDay, TodoGroup, TodosReport, TodoSums, WorkspaceTodos } from '../../crm/todo-counts.js';
import type { TodoStore } from './todo-store.js';

/** Which todos are counted. */
export interface TodosCall {
  /** Only this workspace. @defaultValue all */
  workspace?: string | undefined;
  /** Start of the period, which ends now: a duration (`'7d'`) or an ISO 8601 time; without a zone, in that of each workspace. @defaultValue '30d' */
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

/** Disabled lists are left out. @throws CF_USAGE: no such workspace or time, or todos disabled */
export async function reportTodos(
  workspaces: readonly ReportedTodos[],
  { workspace, since = DEFAULT_SINCE }: TodosCall,
  clock: Clock,
): Promise<TodosReport> {
  const nowMs = clock.now();
  const periods = periodsOf(workspaces, { workspace, since }, nowMs);
  const counted = periods.map(({ one, sinceMs }) => countTodos(one, { sinceMs, nowMs }));
  const sinceMs = Math.min(...periods.map((period) => period.sinceMs));
  return { since: isoTime(sinceMs), at: isoTime(nowMs), workspaces: await Promise.all(counted) };
}

/** The workspaces that are asked for, each with the begin of its period. @throws CF_USAGE */
export function periodsOf(
  workspaces: readonly ReportedTodos[],
  { workspace, since = DEFAULT_SINCE }: TodosCall,
  nowMs: number,
): { one: ReportedTodos; sinceMs: number }[] {
  const wanted = workspaces.filter(({ name }) => workspace === undefined || name === workspace);
  if (wanted.length === 0) {
    const names = workspaces.map(({ name }) => name).join(', ');
    throw usage(`There is no workspace "${workspace ?? ''}". The configuration names ${names}.`);
  }
  const enabled = wanted.filter((one) => one.enabled);
  if (enabled.length === 0)
    throw usage(
      `The list "todo" is disabled (${wanted.map(({ name }) => name).join(', ')}), so there is nothing to count. Set lists.todo.enabled to true and run: changefeed sweep todo.`,
    );
  return enabled.map((one) => ({ one, sinceMs: sinceOf(since, nowMs, one.timeZone) }));
}

function sinceOf(text: string, nowMs: number, timeZone: string): number {
  const duration = parseDuration(text);
  const ms = duration === undefined ? readTime(text, timeZone) : nowMs - duration;
  if (ms !== null && ms >= 0 && ms <= nowMs) return ms;
  throw usage(
    `The period begins at "${text}"; allowed: a duration such as 7d, or a time in the past such as 2026-03-01.`,
  );
}

async function countTodos(
  { name, timeZone, store }: ReportedTodos,
  period: { sinceMs: number; nowMs: number },
): Promise<WorkspaceTodos> {
  const factsOf = factsIn({ ...period, timeZone });
  const facts: CountedTodo[] = [];
  for await (const [, record] of everyStored(store)) facts.push(factsOf(record));
  const last = await store.lastSweep();
  const since = isoTime(period.sinceMs);
  const [example = null, ...more] = facts.flatMap(({ strangeDue }) => strangeDue ?? []);
  const strangeDue = example === null ? null : { todos: more.length + 1, example: shorten(example, 20) };
  return { workspace: name, timeZone, since, asOf: last?.startedAt ?? null, strangeDue, ...sumsOf(facts) };
}

export async function* everyStored({ everyTodo }: Pick<TodoStore, 'everyTodo'>) {
  for await (const todos of everyTodo()) {
    for (const [at, [id, { known }]] of todos.entries()) {
      // Chunks that are read ahead come without a pause, and time zones take long.
      if (at % TODOS_IN_A_ROW === 0) await giveWay();
      if (isStored(known) && known.record !== null) yield [id, known.record] as const;
    }
  }
}

/** The facts of one todo that count. Kept in place of the todo, so that a large list is never in memory as a whole. */
export interface CountedTodo {
  owner: PersonOrTeam | null;
  teams: readonly PersonOrTeam[];
  open: boolean;
  dueToday: boolean;
  overdue: boolean;
  completed: boolean;
  /** Due within the period, and its state is known. */
  wasDue: boolean;
  wasDone: boolean;
  /** Ms. */
  deadline: number | null;
  doneAt: number | null;
  tookMs: number | null;
  /** A due date that is not understood. */
  strangeDue: string | null;
  completedOn: string | null;
}

interface PersonOrTeam {
  id: string;
  name: string;
}

export function factsIn(period: Period): (todo: UncheckedRecord) => CountedTodo {
  const { sinceMs, nowMs, timeZone } = period;
  const within = (ms: number | null): boolean => ms !== null && ms >= sinceMs && ms <= nowMs;
  const today = dayOf(period);
  return (todo) => {
    const done = isDone(todo);
    const deadline = deadlineOf(todo, timeZone);
    const doneAt = done === true ? msOf(doneAtOf(todo)) : null;
    const open = done === false;
    const createdAt = msOf(createdAtOf(todo));
    const completed = within(doneAt);
    return {
      owner: ownerOf(todo),
      teams: teamsOf(todo),
      open,
      // The deadline of a date without a time of day is the first moment of the next day.
      dueToday: open && deadline !== null && deadline > today.from && deadline <= today.to,
      overdue: open && deadline !== null && deadline <= nowMs,
      completed,
      completedOn: completed && doneAt !== null ? dateOf(doneAt, timeZone) : null,
      wasDue: done !== null && within(deadline),
      wasDone: done === true,
      deadline,
      doneAt,
      strangeDue: deadline === null ? dueText(todo) : null,
      // A creation date can be edited, so it may lie after the completion.
      tookMs: completed && doneAt !== null && createdAt !== null && doneAt >= createdAt ? doneAt - createdAt : null,
    };
  };
}

export function sumsOf(todos: readonly CountedTodo[]): TodoSums {
  return {
    total: countsOf(todos),
    people: groupsOf(todos, ({ owner }) => [owner]),
    teams: groupsOf(todos, ({ teams }) => (teams.length === 0 ? [null] : teams)),
    days: daysOf(todos),
  };
}

function countsOf(todos: readonly CountedTodo[]): TodoCounts {
  const number = (what: 'open' | 'dueToday' | 'overdue' | 'completed'): number =>
    todos.filter((todo) => todo[what]).length;
  const due = todos.filter(({ wasDue }) => wasDue);
  return {
    open: number('open'),
    dueToday: number('dueToday'),
    overdue: number('overdue'),
    completed: number('completed'),
    completionRate: due.length === 0 ? null : due.filter(({ wasDone }) => wasDone).length / due.length,
    medianMsToComplete: medianOf(todos.flatMap(({ tookMs }) => tookMs ?? [])),
  };
}

/** The one with the most open todos first. */
function groupsOf(
  todos: readonly CountedTodo[],
  groupsOfTodo: (todo: CountedTodo) => readonly (PersonOrTeam | null)[],
): TodoGroup[] {
  const groups = new Map<string | null, { id: string | null; name: string | null; todos: CountedTodo[] }>();
  for (const todo of todos) {
    for (const named of groupsOfTodo(todo)) {
      const { id, name } = named ?? { id: null, name: null };
      const group = groups.get(id) ?? { id, name, todos: [] };
      group.todos.push(todo);
      groups.set(id, group);
    }
  }
  return [...groups.values()]
    .map(({ id, name, todos: own }) => ({ id, name, ...countsOf(own) }))
    .sort((a, b) => b.open - a.open || b.completed - a.completed || (a.name ?? '').localeCompare(b.name ?? ''));
}

function daysOf(todos: readonly CountedTodo[]): TodoDay[] {
  const days = new Map<string, CountedTodo[]>();
  for (const todo of todos) {
    if (todo.completedOn === null) continue;
    const day = days.get(todo.completedOn) ?? [];
    day.push(todo);
    days.set(todo.completedOn, day);
  }
  const sorted = [...days].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([date, own]) => {
    const people = groupsOf(own, ({ owner }) => [owner]);
    return { date, completed: own.length, people: people.map(({ id, name, completed }) => ({ id, name, completed })) };
  });
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
