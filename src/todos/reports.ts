/** What the todos of each workspace come to, counted from what is remembered of them: asks nothing of the CRM. */
import { ChangefeedError } from '../errors.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import { parseDuration } from '../runtime/duration.js';
import { TodoTally, type TodoSums } from './report.js';
import type { TodoStore } from './store.js';

export interface TodosCall {
  /** Only this workspace. @defaultValue all */
  workspace?: string | undefined;
  /** Where the period begins that ends now: a duration (`'7d'`) or a time in ISO 8601. @defaultValue '30d' */
  since?: string | undefined;
}

export interface WorkspaceTodos extends TodoSums {
  workspace: string;
  timeZone: string;
  /** ISO 8601: begin of the last complete sweep; null before the first. */
  asOf: string | null;
}

export interface TodosReport {
  /** ISO 8601: the period. */
  since: string;
  at: string;
  workspaces: WorkspaceTodos[];
}

export interface ReportedWorkspace {
  name: string;
  timeZone: string;
  /** False: the list of todos is disabled. */
  polled: boolean;
  store: TodoStore;
}

const DEFAULT_SINCE = '30d';

/**
 * Workspaces whose list of todos is disabled are left out, unless there is no other.
 * @throws ChangefeedError CF_USAGE when there is no such workspace or time, or todos are disabled or kept without images
 */
export async function reportTodos(
  workspaces: readonly ReportedWorkspace[],
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
  const polled = wanted.filter((one) => one.polled);
  if (polled.length === 0) throw disabled(wanted.map(({ name }) => name));
  const counted = polled.map((one) => countTodos(one, { sinceMs, nowMs }));
  return { since: isoTime(sinceMs), at: isoTime(nowMs), workspaces: await Promise.all(counted) };
}

function sinceOf(text: string, nowMs: number): number {
  const duration = parseDuration(text);
  const ms = duration === undefined ? (/^\d{4}-\d{2}-\d{2}/u.test(text) ? Date.parse(text) : NaN) : nowMs - duration;
  if (ms >= 0 && ms <= nowMs) return ms;
  throw usage(
    `The period begins at "${text}"; allowed: a duration such as 7d, or a time that is over, such as 2026-03-01.`,
  );
}

async function countTodos(
  { name, timeZone, store }: ReportedWorkspace,
  period: { sinceMs: number; nowMs: number },
): Promise<WorkspaceTodos> {
  const tally = new TodoTally({ ...period, timeZone });
  for await (const todos of store.everyTodo()) {
    for (const [, { known }] of todos) {
      if (known.record !== null) tally.add(known.record);
      else if (known.gone === undefined) throw withoutImages(name);
    }
  }
  const last = await store.lastLook();
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
