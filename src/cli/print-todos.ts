/** The todo report as a page for a terminal. */
import type { TodoCounts, TodoGroup, TodosReport, WorkspaceTodos } from '../app/changefeed.js';
import { formatDuration } from '../runtime/duration.js';
import { type Colours, printable, table } from './text.js';

const COLUMNS = ['open', 'due today', 'overdue', 'completed', 'rate', 'median'];

export function todosText(report: TodosReport, colours: Colours): string {
  return report.workspaces.map((workspace) => workspaceText(workspace, report, colours)).join('\n\n');
}

function workspaceText(todos: WorkspaceTodos, { since, at }: TodosReport, colours: Colours): string {
  const { workspace, timeZone, asOf, total, people, teams } = todos;
  const { bold, dim, yellow } = colours;
  if (asOf === null) return `${bold(`workspace ${workspace}`)}  ${yellow('no complete sweep of the todos yet')}`;
  const days = `${dayIn(timeZone, since)} to ${dayIn(timeZone, at)} (${timeZone})`;
  const age = formatDuration(Math.max(0, Date.parse(at) - Date.parse(asOf)));
  return [
    `${bold(`workspace ${workspace}`)}  completed ${days}  ${dim(`as of ${age} ago`)}`,
    table(['', ...COLUMNS], [['all todos', ...cells(total, colours)]], colours),
    ...groupTable({ title: 'in charge', none: 'no person' }, people, colours),
    ...groupTable({ title: 'team', none: 'no team' }, teams, colours),
  ].join('\n\n');
}

/** A single group would repeat the line of all todos. */
function groupTable(
  { title, none }: { title: string; none: string },
  groups: readonly TodoGroup[],
  colours: Colours,
): string[] {
  if (groups.length === 0 || (groups.length === 1 && groups[0]?.id === null)) return [];
  const rows = groups.map((group) => [nameOf(group) ?? colours.dim(none), ...cells(group, colours)]);
  return [table([title, ...COLUMNS], rows, colours)];
}

function nameOf({ id, name }: TodoGroup): string | null {
  if (id === null) return null;
  return printable(name ?? id);
}

function cells(counts: TodoCounts, { red, yellow }: Colours): string[] {
  const { open, dueToday, overdue, completed, completionRate, medianMsToComplete } = counts;
  return [
    String(open),
    dueToday === 0 ? '0' : yellow(String(dueToday)),
    overdue === 0 ? '0' : red(String(overdue)),
    String(completed),
    completionRate === null ? '—' : `${Math.round(100 * completionRate)} %`,
    medianMsToComplete === null ? '—' : roughly(medianMsToComplete),
  ];
}

/** From two days on, without hours and minutes. */
function roughly(ms: number): string {
  const days = ms / 86_400_000;
  return days < 2 ? formatDuration(ms) : `${days.toFixed(1).replace(/\.0$/, '')} days`;
}

function dayIn(timeZone: string, iso: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date(iso));
}
