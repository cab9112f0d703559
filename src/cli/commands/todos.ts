/** The todo report: as JSON, or as a page for a terminal. */
import { todoSheet } from '../../actions/sheets.js';
import type { TodoCounts, TodoGroup, TodosReport, WorkspaceTodos } from '../../crm/todo-counts.js';
import { dayIn } from '../../kit/iso-time.js';
import { formatsFor, type Formats } from '../../words/format.js';
import { wordsFor, type Words } from '../../words/words.js';
import { formatsOf } from '../answers.js';
import { workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option } from '../command.js';
import { writeSheet } from '../written-rows.js';
import { type Colours, fitted, fittedTable, printable } from '../text.js';

export const todos = defineFeedCommand({
  byLastValid: true,
  input: {
    since: option('when', 'begin of the period: a duration or a time (default: 30d)', asText),
    workspace: workspaceOption('only this workspace'),
    csv: flag('for a spreadsheet'),
    json: flag('print it as JSON'),
  },
  async run({ csv = false, json = false, workspace, since }, { feed, config }, io) {
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
