/** The contents of a report of todos: the schema of which its types and the OpenAPI document are made. */
import { z } from 'zod';

const count = z.number().int();
const iso = z.string().describe('ISO 8601, UTC');
const nameless = { id: z.string().nullable(), name: z.string().nullable() };

/** Counts of the todos that are in the list now. */
const counts = {
  open: count,
  /** Open, and due on this calendar day; the hours of the day that are over count too. */
  dueToday: count,
  /** Open, and their due time is over. */
  overdue: count,
  /** Done within the period. */
  completed: count,
  /** The share that is done of those due within the period, 0 to 1; null when none was due. */
  completionRate: z.number().nullable(),
  /** Time from creation to completion of those completed within the period, ms; null when there are none. */
  medianMsToComplete: z.number().nullable(),
};

const todoCounts = z.object(counts);
/** The todos of one person in charge, or of one team. `id` is null for the todos without one. */
const todoGroup = z.object({ ...nameless, ...counts });

const todoDay = z.object({
  /** `2026-03-01`, a day of the workspace's time zone. */
  date: z.string().describe('a calendar day of the workspace'),
  completed: count,
  /** People in charge, the one with the most first. */
  people: z.array(z.object({ ...nameless, completed: count })),
});

const todoSums = {
  total: todoCounts,
  /** People in charge, the one with the most open todos first. */
  people: z.array(todoGroup),
  /** Teams. A todo of two teams counts for both. */
  teams: z.array(todoGroup),
  /** The calendar days of the period on which todos were completed, oldest first. */
  days: z.array(todoDay).describe('completed todos by day, without days that have none'),
};

const workspaceTodos = z.object({
  workspace: z.string(),
  timeZone: z.string(),
  /** Start of the period: a date without a zone is one of this time zone. */
  since: iso,
  /** Start of the last complete sweep; null before the first. */
  asOf: iso.nullable(),
  /** Todos whose due date is not understood: they are never due. Null when there are none. */
  strangeDue: z.object({ todos: count, example: z.string() }).nullable(),
  ...todoSums,
});

export const todosReport = z.object({
  /** The period: from `since`, the earliest of the workspaces, to `at`. */
  since: iso,
  at: iso,
  workspaces: z.array(workspaceTodos),
});

/** Todos in total, per person in charge and per team. */
export type TodosReport = z.output<typeof todosReport>;
/** The todos of one workspace. */
export type WorkspaceTodos = z.output<typeof workspaceTodos>;
/** Todos by what has become of them. */
export type TodoCounts = z.output<typeof todoCounts>;
/** The counts of a person or a team. */
export type TodoGroup = z.output<typeof todoGroup>;
export type TodoDay = z.output<typeof todoDay>;
export type TodoSums = Pick<WorkspaceTodos, keyof typeof todoSums>;

/** The numbers that have rows. */
export const TODO_STATES = ['open', 'dueToday', 'overdue', 'completed'] as const;
export type TodoState = (typeof TODO_STATES)[number];

const todoRow = z.object({
  workspace: z.string(),
  id: z.string(),
  /** Null where it says nothing. */
  title: z.string().nullable(),
  /** The person in charge; null: nobody. */
  owner: z.object({ id: z.string(), name: z.string() }).nullable(),
  teams: z.array(z.string()).describe('their names'),
  /** The person, organization, deal or lead that it is about, where its name is stored. */
  about: z.object({ list: z.string(), id: z.string(), name: z.string() }).nullable(),
  /** The moment after which it is late; null: never. */
  due: iso.nullable().describe('ISO 8601, UTC: of a date without a time of day the end of that day'),
  /** When it was done; null while it is open, and where that is not known. */
  completedAt: iso.nullable(),
  done: z.boolean(),
  /** Whole days after `due` at which it was done, or that it is late now; null: not late. */
  daysLate: count.nullable(),
  /** In the CRM; null without `links` of the workspace. */
  link: z.string().nullable(),
});

export const todoRows = z.object({
  at: iso,
  /** All that match, as the report counts them. */
  count: count.describe('all that match, as the report counts them'),
  rows: z.array(todoRow),
  /** `from` of the rows that follow; null at the end. */
  next: z.string().nullable().describe('`from` of the rows that follow; null at the end'),
});

/** One todo behind the number of a report. */
export type TodoRow = z.output<typeof todoRow>;
/** The todos behind the number of a report, in an order. */
export type TodoRows = z.output<typeof todoRows>;
