/** The todo report as a page for a terminal. */
import type { TodoCounts, TodoGroup, TodosReport, WorkspaceTodos } from '../app/changefeed.js';
import { formatDuration } from '../runtime/duration.js';
import { type Colours, count, fitted, fittedTable, printable } from './text.js';

const COLUMNS = ['open', 'due today', 'overdue', 'completed', 'rate', 'median time'];

export function todosText(report: TodosReport, colours: Colours, columns = Infinity): string {
  const page = { colours, columns };
  return report.workspaces.map((workspace) => workspaceText(workspace, report, page)).join('\n\n');
}

interface Page {
  colours: Colours;
  columns: number;
}

function workspaceText(todos: WorkspaceTodos, { at }: TodosReport, page: Page): string {
  const { workspace, timeZone, since, asOf, strangeDue, total, people, teams } = todos;
  const { colours, columns } = page;
  const { bold, dim, yellow } = colours;
  if (asOf === null) return `${bold(`workspace ${workspace}`)}  ${yellow('no complete sweep of the todos yet')}`;
  const days = `${dayIn(timeZone, since)} to ${dayIn(timeZone, at)} (${timeZone})`;
  const age = formatDuration(Math.max(0, Date.parse(at) - Date.parse(asOf)));
  return [
    fitted(`${bold(`workspace ${workspace}`)}  completed ${days}  ${dim(`as of ${age} ago`)}`, columns),
    fittedTable(['', ...COLUMNS], (painted) => [['all todos', ...cells(total, painted)]], page),
    ...(strangeDue === null ? [] : [fitted(yellow(strangeText(strangeDue)), columns)]),
    ...groupTable({ title: 'in charge', none: 'no person' }, people, page),
    ...groupTable({ title: 'team', none: 'no team' }, teams, page),
  ].join('\n\n');
}

function strangeText({ todos, example }: NonNullable<WorkspaceTodos['strangeDue']>): string {
  return `${count(todos, 'todo')} with a due date that is not understood, such as "${printable(example)}": never due. Understood: 2026-03-01 and 2026-03-01T09:00:00Z.`;
}

/** A single group would repeat the line of all todos. */
function groupTable(
  { title, none }: { title: string; none: string },
  groups: readonly TodoGroup[],
  page: Page,
): string[] {
  if (groups.length === 0 || (groups.length === 1 && groups[0]?.id === null)) return [];
  const rowsIn = (painted: Colours): string[][] =>
    groups.map((group) => [
      group.id === null ? painted.dim(none) : printable(group.name ?? group.id),
      ...cells(group, painted),
    ]);
  return [fittedTable([title, ...COLUMNS], rowsIn, page)];
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
