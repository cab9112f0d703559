/** A report of todos in words: the sums, and a line for each person or team that has something to report. Pure. */
import type { ReportOutcome } from '../handler.js';
import { shorten } from '../../../kit/printable.js';
import type { TodoCounts, TodoGroup, WorkspaceTodos } from '../../../crm/todo-counts.js';
import type { Formats } from '../../../words/format.js';
import { wordsFor, type Words } from '../../../words/words.js';
import type { TitledText } from './chat.js';

const MOST_GROUPS = 15;
const LONGEST_NAME = 80;
const DAY_MS = 86_400_000;

interface About {
  workspace: string;
  per: 'person' | 'team';
  formats: Formats;
}

export function reportText(outcome: ReportOutcome, { workspace, per, formats }: About): TitledText {
  const words = wordsFor(formats.language);
  const { t } = words;
  if ('refused' in outcome) return { title: t('report.refused', { workspace }), lines: [outcome.refused] };
  const { report, at } = outcome;
  const { total, people, teams } = report;
  if (total.open + total.completed === 0) return { title: t('report.none', { workspace }), lines: [] };
  const since = t('report.since', { count: formats.number(total.completed), when: sinceText(report, at, formats) });
  const told = (per === 'team' ? teams : people)
    .filter(({ completed, overdue, dueToday }) => completed + overdue + dueToday > 0)
    .toSorted((a, b) => b.overdue - a.overdue || b.completed - a.completed);
  const nameOf = ({ id, name }: TodoGroup): string =>
    shorten((name ?? id ?? t(per === 'team' ? 'todos.noTeam' : 'todos.nobody')).replace(/\s+/gu, ' '), LONGEST_NAME);
  const line = (group: TodoGroup): string => `• ${nameOf(group)}: ${countsOf(group, words, formats).join(', ')}`;
  const more = told.length - MOST_GROUPS;
  return {
    title: t('report.title', { workspace, sums: [since, ...countsOf(total, words, formats).slice(1)].join(', ') }),
    lines: [...told.slice(0, MOST_GROUPS).map(line), ...(more > 0 ? [`… +${more}`] : [])],
  };
}

/** The completed ones first. */
function countsOf({ completed, overdue, dueToday, open }: TodoCounts, { t }: Words, { number }: Formats): string[] {
  return [
    t('report.completed', { count: number(completed) }),
    t('report.overdue', { count: number(overdue) }),
    t('report.dueToday', { count: number(dueToday) }),
    t('report.open', { count: number(open) }),
  ];
}

function sinceText({ since }: WorkspaceTodos, at: string, formats: Formats): string {
  const isYesterday = formats.date(since) === formats.date(Date.parse(at) - DAY_MS);
  if (!isYesterday) return formats.dateTime(since);
  return wordsFor(formats.language).t('report.yesterday', { time: formats.time(since) });
}
