/** The todo report: as JSON, or as a page for a terminal. */
import { todoRowSheet, todoSheet } from '../../actions/sheets.js';
import {
  TODO_STATES,
  type TodoCounts,
  type TodoGroup,
  type TodoRow,
  type TodosReport,
  type WorkspaceTodos,
} from '../../crm/todo-counts.js';
import { usage } from '../../kit/errors.js';
import { dayIn } from '../../kit/iso-time.js';
import { formatsFor, type Formats } from '../../words/format.js';
import { wordsFor, type Words } from '../../words/words.js';
import { formatsOf } from '../answers.js';
import { word, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option } from '../command.js';
import { writeSheet } from '../written-rows.js';
import type { Io } from '../io.js';
import { type Colours, fitted, fittedTable, printable, table } from '../text.js';

export const todos = defineFeedCommand({
  byLastValid: true,
  input: {
    since: option('when', 'begin of the period: a duration or a time (default: 30d)', asText),
    workspace: workspaceOption('only this workspace'),
    list: option('which', `the todos behind a number: ${TODO_STATES.join(', ')}`, word(...TODO_STATES)),
    owner: option('name', 'with --list: only of this person in charge, by name or id; "none": of nobody', asText),
    team: option('name', 'with --list: only of this team, by name or id; "none": of no team', asText),
    csv: flag('for a spreadsheet'),
    json: flag('print it as JSON'),
  },
  async run({ csv = false, json = false, workspace, since, list: show, owner, team }, { feed, config }, io) {
    if (show === undefined && (owner ?? team) !== undefined) throw usage('--owner and --team go with --list.');
    if (show !== undefined) {
      const part = (from?: string) => feed.listTodos({ show, workspace, since, owner, team, from, limit: 200 });
      if (csv) return await writeSheet(todoRowSheet(part), io);
      for (let from: string | undefined; ;) {
        const { rows, count, next, at } = await part(from);
        if (json) for (const row of rows) io.out(JSON.stringify(row));
        else
          io.out(rowsText(rows, { io, formats: formatsOf(config, io.env, at), count: from === undefined ? count : 0 }));
        if (next === null) return 0;
        from = next;
      }
    }
    const report = await feed.todos({ workspace, since });
    if (csv) return await writeSheet(todoSheet(report), io);
    io.out(
      json
        ? JSON.stringify(report)
        : todosText(report, io.colours.out, io.columns, formatsOf(config, io.env, report.at)),
    );
    return 0;
  },
});

function rowsText(
  rows: readonly TodoRow[],
  { io, formats, count }: { io: Io; formats: Formats; count: number },
): string {
  const { t } = wordsFor(formats.language);
  if (rows.length === 0) return t('report.noRows');
  const cellsOf = ({ title, id, owner, about, due, daysLate }: TodoRow): string[] => [
    due === null ? '—' : formats.dateTime(due),
    daysLate === null ? '' : t('report.days', { count: daysLate }),
    printable(owner?.name ?? t('todos.nobody')),
    printable(title ?? id),
    printable(about?.name ?? ''),
  ];
  const heads = t('report.rowHead').split('|');
  const text = table(heads, rows.map(cellsOf), io.colours.out, io.columns);
  return count > rows.length ? `${t('report.rows', { count: formats.number(count) })}\n${text}` : text;
}

export function todosText(
  report: TodosReport,
  colours: Colours,
  columns = Infinity,
  formats = formatsFor({ language: 'en', now: report.at }),
): string {
  const { t } = wordsFor(formats.language);
  const page = { colours, columns, formats, t, heads: t('report.head').split('|') };
  return report.workspaces.map((workspace) => workspaceText(workspace, report, page)).join('\n\n');
}

interface Page {
  colours: Colours;
  columns: number;
  formats: Formats;
  t: Words['t'];
  heads: readonly string[];
}

function workspaceText(todos: WorkspaceTodos, { at }: TodosReport, page: Page): string {
  const { workspace, timeZone, since, asOf, strangeDue, total, people, teams } = todos;
  const { colours, columns, formats, t, heads } = page;
  const { bold, dim, yellow } = colours;
  if (asOf === null) return `${bold(t('status.workspace', { name: workspace }))}  ${yellow(t('report.noSweep'))}`;
  const days = t('report.period', { from: dayIn(timeZone, since), to: dayIn(timeZone, at), zone: timeZone });
  const age = t('report.asOf', { time: formats.duration(Math.max(0, Date.parse(at) - Date.parse(asOf))) });
  return [
    fitted(`${bold(t('status.workspace', { name: workspace }))}  ${days}  ${dim(age)}`, columns),
    fittedTable(['', ...heads], (painted) => [[t('report.all'), ...cells(total, painted, page)]], page),
    ...(strangeDue === null ? [] : [fitted(yellow(strangeText(strangeDue, page)), columns)]),
    ...groupTable({ title: t('report.inCharge'), none: t('todos.nobody') }, people, page),
    ...groupTable({ title: t('report.team'), none: t('todos.noTeam') }, teams, page),
  ].join('\n\n');
}

function strangeText({ todos, example }: NonNullable<WorkspaceTodos['strangeDue']>, { t, formats }: Page): string {
  return t('todos.strangeDue', { count: formats.number(todos), example: printable(example) });
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
      ...cells(group, painted, page),
    ]);
  return [fittedTable([title, ...page.heads], rowsIn, page)];
}

function cells(counts: TodoCounts, { red, yellow }: Colours, page: Page): string[] {
  const { open, dueToday, overdue, completed, completionRate, medianMsToComplete } = counts;
  return [
    String(open),
    dueToday === 0 ? '0' : yellow(String(dueToday)),
    overdue === 0 ? '0' : red(String(overdue)),
    String(completed),
    completionRate === null ? '—' : `${Math.round(100 * completionRate)} %`,
    medianMsToComplete === null ? '—' : roughly(medianMsToComplete, page),
  ];
}

/** From two days on, without hours and minutes. */
function roughly(ms: number, { formats, t }: Page): string {
  const days = ms / 86_400_000;
  return days < 2 ? formats.duration(ms) : t('report.days', { count: days.toFixed(1).replace(/\.0$/, '') });
}
