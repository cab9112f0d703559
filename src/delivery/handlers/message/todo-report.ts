/** `todoReport`: the counts of the todos as a chat message, at a time of day. It gets no events. */
import type { z } from 'zod';
import { oneOf, strictOptions } from '../../../kit/schema/fields.js';
import { formatsFor } from '../../../words/format.js';
import { days, timeOfDay } from '../digest.js';
import type { Schedule, Subscription } from '../handler.js';
import { endpointShape, toEndpoint } from '../http/endpoint.js';
import type { EndpointWorld } from '../http/post.js';
import { defineKind } from '../kind.js';
import { subscriptionShape, subscriptionSchema, toSubscription } from '../options.js';
import { chatShape, openChat, refuseText, titledText } from './chat.js';
import { reportText } from './report-text.js';

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
  return toEndpoint(options, context);
});

export type TodoReportOptions = z.input<typeof reportSchema>;
type ReportSettings = z.output<typeof reportSchema>;

/**
 * A subscription that posts a report of the todos to a chat, one message for each workspace: how many were completed since the report before,
 * how many are overdue, due today and open, in total and by person in charge or team.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; a report fails with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export function todoReport(options: TodoReportOptions): Subscription {
  return todoReportKind.inCode(options);
}

export const todoReportKind = defineKind('todoReport', reportSchema, (options) => createTodoReport(options));

export function createTodoReport(settings: ReportSettings, world: Partial<EndpointWorld> = {}): Subscription {
  const { at, days: on, per } = settings;
  const chat = openChat(settings, 'Report', world);
  const schedule: Schedule = { when: { at }, days: on };
  const shared = subscriptionSchema.parse({ name: settings.name });
  const { workspaces: read, language: reader, retry: tries, timeout: timeoutMs } = settings;
  const given = { ...shared, workspaces: read, language: reader, retry: tries, timeout: timeoutMs };
  const subscription = toSubscription(given, {
    handler: 'todoReport',
    ...chat.parts,
    handle: () => undefined,
    report: {
      schedule,
      handle: (outcome, context) =>
        chat.say(({ service, language: inLanguage, timeZone }) => {
          const formats = formatsFor({ language: inLanguage, timeZone, now: outcome.at });
          return titledText(reportText(outcome, { workspace: context.workspace, per, formats }), service);
        }, context),
    },
  });
  return { ...subscription, on: [] };
}
