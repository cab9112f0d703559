/** The API of the status page. Each endpoint is one question to the feed, or one action of an operator. */
import { z } from 'zod';
import type { DeadLetter } from '../../dispatch/dead-letters.js';
import type { Status } from '../../observability/status.js';
import type { Clock } from '../../runtime/clock.js';
import { todosReport } from '../../todos/counts.js';
import * as answers from './answers.js';
import { endpoint, RefusedError, type Endpoint } from './endpoint.js';
import { eventsQuery, filterFrom, workspacesFrom } from './event-filter.js';
import { readableTexts, type EventViews } from './event-view.js';
import { endsOf, eventsBefore } from './events-before.js';
import { SAMPLE_MS, type History } from './history.js';
import { formatPosition, parsePosition, type Position } from './position.js';
import type { PageSource } from './source.js';
import { createTodoReports } from './todo-reports.js';

export interface EndpointDeps {
  source: PageSource;
  views: EventViews;
  history: History;
  clock: Clock;
  version: string;
  queues: 'mounted' | 'not installed';
  /** Read at most once a second, however many pages are open. */
  status: () => Promise<Status>;
}

const MOST_DEAD_LETTERS = 200;

export function endpoints(deps: EndpointDeps): Endpoint[] {
  return [
    ...feedEndpoints(deps),
    ...eventEndpoints(deps),
    ...subscriptionEndpoints(deps),
    ...deadLetterEndpoints(deps),
    ...listEndpoints(deps),
  ];
}

function feedEndpoints({ source, history, clock, version, queues, status }: EndpointDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/session',
      summary: 'Who asks, and what they may do.',
      access: 'public',
      offline: true,
      answer: answers.session,
      handle: ({ caller }) => Promise.resolve({ caller }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/about',
      summary: 'The workspaces and their lists.',
      access: 'read',
      offline: true,
      answer: answers.about,
      handle: () => Promise.resolve({ version, queues, workspaces: source.workspaces() }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/status',
      summary: 'Problems, lists, budget, subscriptions and processes.',
      access: 'read',
      answer: answers.status,
      async handle() {
        const now = await status();
        const handled = await source.handledLastMinute(now.subscriptions.map(({ name }) => name));
        const subscriptions = now.subscriptions.map((one) => ({
          ...one,
          handledLastMinute: handled.get(one.name) ?? 0,
        }));
        return { ...now, subscriptions };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/api/history',
      summary: 'Budget and lag of the last hour, since this process runs.',
      access: 'read',
      query: z.object({ since: z.iso.datetime().optional() }),
      offline: true,
      answer: answers.history,
      handle: ({ query: { since } }) =>
        Promise.resolve({
          everyMs: SAMPLE_MS,
          samples: history.since(since === undefined ? clock.now() - 3_600_000 : Date.parse(since) + 1),
        }),
    }),
  ];
}

function eventEndpoints({ source, views }: EndpointDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/events',
      summary: 'A page of events, newest first.',
      access: 'read',
      query: eventsQuery.extend({
        before: z.string().transform(asPosition).optional().describe('`next` of the page before'),
        limit: z.coerce.number().int().min(1).max(200).default(50),
      }),
      answer: answers.eventsPage,
      async handle({ query }) {
        const { before, limit } = query;
        const call = {
          workspaces: workspacesFrom(query, source),
          before: before ?? new Map<string, string>(),
          limit,
          wanted: filterFrom(query, source),
        };
        // First, so that the stream repeats an event rather than leaving one out.
        const end = formatPosition(await endsOf(source, call.workspaces));
        const { events, ...rest } = await eventsBefore(source.log, call);
        return { events: await Promise.all(events.map(views)), ...rest, end };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/api/events/:workspace/:logId',
      summary: 'One whole event.',
      access: 'read',
      answer: answers.oneEvent,
      async handle({ params: { workspace = '', logId = '' } }) {
        const known = source.workspaces().some(({ name }) => name === workspace) && /^\d{1,15}-\d{1,19}$/.test(logId);
        const logged = known ? await source.log.event(workspace, logId) : null;
        if (logged === null) throw new RefusedError(404, 'The log has no such event, or no longer has it.');
        return { view: await views(logged), event: logged.event };
      },
    }),
  ];
}

function subscriptionEndpoints({ source }: EndpointDeps): Endpoint[] {
  const action = { method: 'POST', access: 'operate', answer: answers.done } as const;
  return [
    endpoint({
      ...action,
      path: '/api/subscriptions/:name/pause',
      summary: 'Stops deliveries to a subscription. Its events wait.',
      body: z.object({ reason: z.string().trim().max(200).optional() }),
      handle: async ({ params: { name = '' }, body: { reason = '' }, caller }) => {
        const by = caller?.name == null ? 'on the status page' : `by ${caller.name}`;
        return {
          count: Number(await source.feed.disable(name, reason === '' ? `paused ${by}.` : `paused ${by}: ${reason}.`)),
        };
      },
    }),
    endpoint({
      ...action,
      path: '/api/subscriptions/:name/resume',
      summary: 'Continues where it was paused or disabled.',
      handle: async ({ params: { name = '' } }) => ({ count: Number((await source.feed.enable(name)) !== null) }),
    }),
  ];
}

function deadLetterEndpoints({ source, views }: EndpointDeps): Endpoint[] {
  const action = { method: 'POST', access: 'operate', answer: answers.done } as const;
  const reason = z.string().min(1).max(4_000).optional().describe('part of the message of the last failure');
  // An empty request must not drop all dead letters: that cannot be undone.
  const chosen = z
    .object({
      subscription: z.string().optional().describe('left out: all subscriptions'),
      ids: z.array(z.string()).min(1).max(MOST_DEAD_LETTERS).optional(),
      reason,
      all: z.literal(true).optional().describe('needed when nothing else is given'),
    })
    .refine((given) => Object.values(given).some((one) => one !== undefined), 'give subscription, ids, reason or all');
  return [
    endpoint({
      method: 'GET',
      path: '/api/dead-letters',
      summary: 'Events that could not be handled, newest first.',
      access: 'read',
      query: z.object({
        subscription: z.string().optional(),
        reason,
        limit: z.coerce.number().int().min(1).max(MOST_DEAD_LETTERS).default(50),
      }),
      answer: answers.deadLetters,
      async handle({ query }) {
        const found = await source.feed.deadLetters.list(query);
        return { deadLetters: await Promise.all(found.map((letter) => viewOfLetter(letter, views))) };
      },
    }),
    endpoint({
      ...action,
      path: '/api/dead-letters/retry',
      summary: 'Hands dead letters to their handler again.',
      body: chosen,
      handle: async ({ body }) => ({ count: await source.feed.deadLetters.retry(body) }),
    }),
    endpoint({
      ...action,
      path: '/api/dead-letters/drop',
      summary: 'Deletes dead letters.',
      body: chosen,
      handle: async ({ body }) => ({ count: await source.feed.deadLetters.drop(body) }),
    }),
  ];
}

function listEndpoints({ source, clock }: EndpointDeps): Endpoint[] {
  const todos = createTodoReports(source.feed, clock);
  return [
    endpoint({
      method: 'GET',
      path: '/api/todos',
      summary: 'Open, due, overdue and completed todos: in total, by person in charge, by team, and by day.',
      access: 'read',
      query: z.object({ since: z.string().max(40).default('30d').describe('a duration or a time; its minute counts') }),
      answer: todosReport,
      handle: ({ query: { since } }) => todos(since),
    }),
    endpoint({
      method: 'GET',
      path: '/api/lists/:workspace/:list/schema',
      summary: 'The fields seen in a list, and their types of values.',
      access: 'read',
      answer: answers.schema,
      async handle({ params: { workspace = '', list = '' } }) {
        return readableTexts(await source.feed.lists.schema(list, workspace));
      },
    }),
  ];
}

async function viewOfLetter({ event, ...letter }: DeadLetter, views: EventViews) {
  return { ...letter, event: await views({ logId: letter.logId, event }) };
}

function asPosition(text: string): Position {
  const position = parsePosition(text);
  if (position === null) throw new RefusedError(400, 'before: not a position such as acme@1700000000000-0.');
  return position;
}
