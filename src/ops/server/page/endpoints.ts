/** The API of the status page. Each route is one question to the feed, or one action of an operator. */
import { z } from 'zod';
import type { DeadLetter } from '../../../delivery/dead-letters.js';
import { DELIVERY_OUTCOMES, type DeliveryRow } from '../../../delivery/receipts/delivery-row.js';
import type { Status } from '../../status.js';
import type { Clock } from '../../../kit/clock.js';
import { todosReport } from '../../../crm/todo-counts.js';
import { addActions } from './actions.js';
import * as answers from './answers.js';
import { RefusedError, type Api } from './api.js';
import { eventsQuery, filterFrom, workspacesFrom } from './event-filter.js';
import { readableTexts, type EventViews } from './event-view.js';
import { endsOf, eventsBefore } from './events-before.js';
import { SAMPLE_MS, type History } from './history.js';
import { formatPosition, parsePosition } from './position.js';
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
const OPERATE = { access: 'operate' } as const;

const operationOf = (tag: string) => (operationId: string, summary: string) => ({ tags: [tag], operationId, summary });

export function addEndpoints(app: Api, deps: EndpointDeps): void {
  addFeed(app, deps);
  addEvents(app, deps);
  addSubscriptions(app, deps);
  addTry(app, deps);
  addActions(app, deps);
  addDeadLetters(app, deps);
  addLists(app, deps);
}

function addFeed(app: Api, { source, history, clock, version, queues, status }: EndpointDeps): void {
  const of = operationOf('feed');
  app.get(
    '/api/session',
    {
      config: { access: 'public', offline: true },
      schema: { ...of('readSession', 'Who asks, and what they may do.'), response: { 200: answers.session } },
    },
    ({ caller }) => Promise.resolve({ caller }),
  );
  app.get(
    '/api/about',
    {
      config: { offline: true },
      schema: { ...of('readAbout', 'The workspaces and their lists.'), response: { 200: answers.about } },
    },
    () => Promise.resolve({ version, queues, workspaces: source.workspaces() }),
  );
  app.get(
    '/api/status',
    {
      schema: {
        ...of('readStatus', 'Problems, lists, budget, subscriptions and processes.'),
        response: { 200: answers.status },
      },
    },
    async () => {
      const now = await status();
      const handled = await source.handledLastMinute(now.subscriptions.map(({ name }) => name));
      const subscriptions = now.subscriptions.map((one) => ({
        ...one,
        handledLastMinute: handled.get(one.name) ?? 0,
      }));
      return { ...now, subscriptions };
    },
  );
  app.get(
    '/api/history',
    {
      config: { offline: true },
      schema: {
        ...of('readHistory', 'Budget and lag of the last hour, since this process runs.'),
        querystring: z.strictObject({ since: z.iso.datetime().optional() }),
        response: { 200: answers.history },
      },
    },
    ({ query: { since } }) =>
      Promise.resolve({
        everyMs: SAMPLE_MS,
        samples: history.since(since === undefined ? clock.now() - 3_600_000 : Date.parse(since) + 1),
      }),
  );
}

function addEvents(app: Api, { source, views }: EndpointDeps): void {
  const of = operationOf('events');
  app.get(
    '/api/events',
    {
      schema: {
        ...of('listEvents', 'A page of events, newest first.'),
        querystring: eventsQuery.extend({
          before: position.optional().describe('`next` of the page before'),
          limit: z.coerce.number().int().min(1).max(200).default(50),
        }),
        response: { 200: answers.eventsPage },
      },
    },
    async ({ query }) => {
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
  );
  app.get(
    '/api/events/:workspace/:logId',
    {
      schema: {
        ...of('readEvent', 'One whole event.'),
        params: z.object({ workspace: z.string(), logId: z.string() }),
        response: { 200: answers.oneEvent },
      },
    },
    async ({ params: { workspace, logId } }) => {
      const known = source.workspaces().some(({ name }) => name === workspace) && /^\d{1,15}-\d{1,19}$/.test(logId);
      const logged = known ? await source.log.event(workspace, logId) : null;
      if (logged === null) throw new RefusedError(404, 'The log has no such event, or no longer has it.');
      return { view: await views(logged), event: logged.event };
    },
  );
}

function addSubscriptions(app: Api, { source, views }: EndpointDeps): void {
  const of = operationOf('subscriptions');
  const params = z.object({ name: z.string() });
  const response = { 200: answers.done };
  app.get(
    '/api/deliveries',
    {
      schema: {
        ...of('listDeliveries', 'Who got an event, when, after how many attempts, with what answer; newest first.'),
        querystring: deliveriesQuery,
        response: { 200: answers.deliveries },
      },
    },
    async ({ query }) => ({ deliveries: await withTitles(await source.feed.deliveries(query), { source, views }) }),
  );
  app.get(
    '/api/subscriptions/:name',
    {
      schema: {
        ...of('readSubscription', 'Where it delivers, what it selects, and how its deliveries went.'),
        params,
        response: { 200: answers.subscriptionDetails },
      },
    },
    ({ params: { name } }) => source.feed.describeSubscription(name),
  );
  app.post(
    '/api/subscriptions/:name/pause',
    {
      config: OPERATE,
      schema: {
        ...of('pauseSubscription', 'Stops deliveries to a subscription. Its events wait.'),
        params,
        body: z.strictObject({ reason: z.string().trim().max(200).optional() }),
        response,
      },
    },
    async ({ params: { name }, body: { reason = '' }, caller }) => {
      const by = caller?.name == null ? 'on the status page' : `by ${caller.name}`;
      return {
        count: Number(await source.feed.pause(name, reason === '' ? `paused ${by}.` : `paused ${by}: ${reason}.`)),
      };
    },
  );
  app.post(
    '/api/subscriptions/:name/resume',
    {
      config: OPERATE,
      schema: { ...of('resumeSubscription', 'Continues where it was paused.'), params, response },
    },
    async ({ params: { name } }) => ({ count: Number((await source.feed.resume(name)) !== null) }),
  );
}

function addTry(app: Api, { source }: EndpointDeps): void {
  app.get(
    '/api/try',
    {
      schema: {
        ...operationOf('subscriptions')('trySubscription', 'What a subscription would have got, and why not the rest.'),
        querystring: z.strictObject({
          subscription: z.string(),
          last: z.string().max(20).default('7d').describe('how far back: a duration'),
          workspace: z.string().optional().describe('default: all'),
          list: z.string().optional().describe('with `record`: its list'),
          record: z.string().optional().describe('only the events of this record, each with why it is not selected'),
          examples: z.coerce.number().int().min(0).max(1_000).optional().describe('default: 10; of a record: all'),
        }),
        response: { 200: answers.tried },
      },
    },
    async ({ query: { subscription, list, record, ...call } }) => {
      if ((list === undefined) !== (record === undefined)) throw new RefusedError(400, 'Give both list and record.');
      const one = list === undefined || record === undefined ? undefined : { list, id: record };
      return readableTexts(await source.feed.try(subscription, { ...call, record: one }));
    },
  );
}

function addDeadLetters(app: Api, { source, views }: EndpointDeps): void {
  const of = operationOf('dead letters');
  const reason = z.string().min(1).max(4_000).optional().describe('part of the message of the last failure');
  // An empty request must not drop all dead letters: that cannot be undone.
  const body = z
    .strictObject({
      subscription: z.string().optional().describe('left out: all subscriptions'),
      ids: z.array(z.string()).min(1).max(MOST_DEAD_LETTERS).optional(),
      reason,
      all: z.literal(true).optional().describe('needed when nothing else is given'),
    })
    .refine((given) => Object.values(given).some((one) => one !== undefined), 'give subscription, ids, reason or all');
  const response = { 200: answers.done };
  app.get(
    '/api/dead-letters',
    {
      schema: {
        ...of('listDeadLetters', 'Events that could not be handled, newest first.'),
        querystring: z.strictObject({
          subscription: z.string().optional(),
          reason,
          limit: z.coerce.number().int().min(1).max(MOST_DEAD_LETTERS).default(50),
        }),
        response: { 200: answers.deadLetters },
      },
    },
    async ({ query }) => {
      const found = await source.feed.deadLetters.list(query);
      return { deadLetters: await Promise.all(found.map((letter) => viewOfLetter(letter, views))) };
    },
  );
  app.post(
    '/api/dead-letters/retry',
    {
      config: OPERATE,
      schema: { ...of('retryDeadLetters', 'Hands dead letters to their handler again.'), body, response },
    },
    async ({ body }) => ({ count: await source.feed.deadLetters.retry(body) }),
  );
  app.post(
    '/api/dead-letters/drop',
    { config: OPERATE, schema: { ...of('dropDeadLetters', 'Deletes dead letters.'), body, response } },
    async ({ body }) => ({ count: await source.feed.deadLetters.drop(body) }),
  );
}

function addLists(app: Api, { source, clock }: EndpointDeps): void {
  const of = operationOf('lists');
  const todos = createTodoReports(source.feed, clock);
  app.get(
    '/api/todos',
    {
      schema: {
        ...of(
          'readTodos',
          'Open, due, overdue and completed todos: in total, by person in charge, by team, and by day.',
        ),
        querystring: z.strictObject({
          since: z.string().max(40).default('30d').describe('a duration or a time; its minute counts'),
        }),
        response: { 200: todosReport },
      },
    },
    ({ query: { since } }) => todos(since),
  );
  app.get(
    '/api/lists/:workspace/:list/schema',
    {
      schema: {
        ...of('readSchema', 'The fields seen in a list, and their types of values.'),
        params: z.object({ workspace: z.string(), list: z.string() }),
        response: { 200: answers.schema },
      },
    },
    async ({ params: { workspace, list } }) => readableTexts(await source.feed.lists.schema(list, workspace)),
  );
}

const short = z.string().min(1).max(2_000).optional();
const deliveriesQuery = z.strictObject({
  event: short.describe('the id of an event, or its position `acme@1700000000000-0`: every subscription answers'),
  list: short.describe('with `record`: the name of its list'),
  record: short.describe("the record's id"),
  subscription: short,
  workspace: short,
  outcome: z
    .enum([...DELIVERY_OUTCOMES, 'failed'])
    .optional()
    .describe('`failed`: retry and dead'),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

/** A receipt has ids only, which say nothing to a person. */
async function withTitles(rows: readonly DeliveryRow[], { source, views }: Pick<EndpointDeps, 'source' | 'views'>) {
  const titles = new Map<string, Promise<string | null>>();
  const read = async ({ workspace, logId }: DeliveryRow): Promise<string | null> => {
    const logged = await source.log.event(workspace, logId);
    const view = logged === null ? null : await views(logged);
    return view?.title ?? view?.about ?? null;
  };
  const titleOf = (row: DeliveryRow): Promise<string | null> => {
    const key = `${row.workspace}@${row.logId}`;
    const title = titles.get(key) ?? read(row);
    titles.set(key, title);
    return title;
  };
  return await Promise.all(rows.map(async (row) => ({ ...row, title: await titleOf(row) })));
}

async function viewOfLetter({ event, ...letter }: DeadLetter, views: EventViews) {
  return { ...letter, event: await views({ logId: letter.logId, event }) };
}

const position = z.string().transform((text, context) => {
  const found = parsePosition(text);
  if (found !== null) return found;
  context.addIssue({ code: 'custom', message: 'not a position such as acme@1700000000000-0.' });
  return z.NEVER;
});
