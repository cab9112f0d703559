/** `todoReport`: the counts of the todos as a chat message, at a time of day. It gets no events. */
import type { z } from 'zod';
import type { TodoCounts, TodoGroup, WorkspaceTodos } from '../../../crm/todo-counts.js';
import { shorten } from '../../../kit/printable.js';
import { oneOf, strictOptions } from '../../../kit/schema/fields.js';
import { formatsFor, type Formats } from '../../../words/format.js';
import { wordsFor, type Words } from '../../../words/words.js';
import { days, timeOfDay } from '../digest.js';
import type { ReportOutcome } from '../handler.js';
import { endpointShape, toEndpoint } from '../http/endpoint.js';
import type { EndpointWorld } from '../http/post.js';
import { defineKind, type OpenedKind } from '../kind.js';
import { subscriptionShape, subscriptionSchema } from '../options.js';
import { chatShape, openChat, refuseText } from './chat.js';
import type { TitledText } from '../titled.js';
import { titledText } from './titled-text.js';

const { name, workspaces, language, retry, timeout } = subscriptionShape;
const { url, allowHosts, disableAfter } = endpointShape;

const reportOptions = strictOptions({
  name,
  /** When, in the workspace's time zone: `'09:00'`. */
  at: timeOfDay,
  /** On which days: `'daily'`, `'mon-fri'`, or an array such as `['mon', 'thu']`. @defaultValue 'mon-fri' */
  days: days.prefault('mon-fri'),
  /** A line for each person in charge, or for each team. @defaultValue 'person' */
  per: oneOf('person', 'team').default('person'),
  workspaces,
  language,
  retry,
  timeout,
  url,
  allowHosts,
  disableAfter,
  ...chatShape,
});

const reportSchema = reportOptions.transform((options, context) => {
  refuseText(options, (option, message, input) => context.addIssue({ code: 'custom', path: [option], message, input }));
  // It has no other options of a subscription: it gets no events.
  return { ...subscriptionSchema.parse({ name: options.name }), ...toEndpoint(options, context) };
});

/** Options of `todoReport`. */
export type TodoReportOptions = z.input<typeof reportSchema>;
type ReportSettings = z.output<typeof reportSchema>;

/**
 * A subscription that posts a report of the todos to a chat, one message for each workspace: how many were completed since the report before,
 * how many are overdue, due today and open, in total and by person in charge or team.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; a report fails with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export const todoReport = defineKind({
  name: 'todoReport',
  words: { en: 'report of todos', ko: 'TODO 보고' },
  options: reportSchema,
  open: (settings) => openTodoReport(settings),
});

export function openTodoReport(settings: ReportSettings, world: Partial<EndpointWorld> = {}): OpenedKind {
  const { at: time, days: on, per } = settings;
  const chat = openChat(settings, 'Report', world);
  return {
    ...chat.parts,
    deliver: () => undefined,
    report: {
      what: 'todos',
      schedule: { when: { at: time }, days: on },
      handle: (outcome, context) =>
        chat.say(({ service, language: inLanguage, timeZone }) => {
          const formats = formatsFor({ language: inLanguage, timeZone, now: outcome.at });
          return titledText(reportText(outcome, { workspace: context.workspace.name, per, formats }), service);
        }, context),
    },
  };
}

const MOST_GROUPS = 15;
const LONGEST_NAME = 80;
const DAY_MS = 86_400_000;

interface About {
  workspace: string;
  per: 'person' | 'team';
  formats: Formats;
}

/** The sums, and a line for each person or team that has something to report. */
export function reportText(outcome: ReportOutcome, { workspace, per, formats }: About): TitledText {
  const words = wordsFor(formats.language);
  const { t } = words;
  if (!('report' in outcome))
    return { title: t('report.refused', { workspace }), lines: 'refused' in outcome ? [outcome.refused] : [] };
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
