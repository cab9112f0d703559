/** The API of the status page: the feed as a whole, its events, and its lists. Each route is one question or one decision. */
import { z } from 'zod';
import { todosReport } from '../../../crm/todo-counts.js';
import * as answers from './answers.js';
import { described, OPERATE, READS_LOG, READS_RECORDS, RefusedError, type Api } from './api.js';
import { eventsQuery, filterFrom, knownWorkspace, workspacesFrom } from './event-filter.js';
import { readableTexts } from './event-view.js';
import { endsOf, eventsBefore, formatPosition, parsePosition } from './events-before.js';
import { SAMPLE_MS } from './history.js';
import type { EndpointDeps } from './source.js';
import { addRules } from './rules.js';
import { addSubscriptions } from './subscriptions.js';
import { createTodoReports } from './todo-reports.js';

const OFFLINE = { offline: true } as const;

export function addEndpoints(app: Api, deps: EndpointDeps): void {
  addFeed(app, deps);
  addEvents(app, deps);
  addSubscriptions(app, deps);
  addRules(app, deps);
  addLists(app, deps);
  addHeld(app, deps);
  addErase(app, deps);
}

function addFeed(app: Api, { source, history, clock, version, queues, status }: EndpointDeps): void {
  const of = described('feed');
  app.get(
    '/api/session',
    {
      config: { access: 'public', ...OFFLINE },
      schema: of('readSession', 'Who asks, and what they may do.', answers.session),
    },
    ({ caller }) => Promise.resolve({ caller }),
  );
  app.get(
    '/api/about',
    { config: OFFLINE, schema: of('readAbout', 'The workspaces and their lists.', answers.about) },
    () => Promise.resolve({ version, queues, workspaces: source.workspaces() }),
  );
  app.get(
    '/api/status',
    { schema: of('readStatus', 'Problems, lists, budget, subscriptions and processes.', answers.status) },
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
      config: OFFLINE,
      schema: of('readHistory', 'Budget and lag of the last hour, since this process runs.', answers.history, {
        querystring: z.strictObject({ since: z.iso.datetime().optional() }),
      }),
    },
    ({ query: { since } }) =>
      Promise.resolve({
        everyMs: SAMPLE_MS,
        samples: history.since(since === undefined ? clock.now() - 3_600_000 : Date.parse(since) + 1),
      }),
  );
}

const position = z.string().transform((text, context) => {
  const found = parsePosition(text);
  if (found !== null) return found;
  context.addIssue({ code: 'custom', message: 'not a position such as acme@1700000000000-0.' });
  return z.NEVER;
});

function addEvents(app: Api, { source, views }: EndpointDeps): void {
  const of = described('events');
  app.get(
    '/api/events',
    {
      config: READS_LOG,
      schema: of('listEvents', 'A page of events, newest first.', answers.eventsPage, {
        querystring: eventsQuery.extend({
          before: position.optional().describe('`next` of the page before'),
          limit: z.coerce.number().int().min(1).max(200).default(50),
        }),
      }),
    },
    async ({ query }) => {
      const { before = new Map<string, string>(), limit } = query;
      const workspaces = workspacesFrom(query, source);
      const wanted = filterFrom(query, source);
      // First, so that the stream repeats an event rather than leaving one out.
      const end = formatPosition(await endsOf(source.log, workspaces));
      const { events, ...rest } = await eventsBefore(source.log, { workspaces, before, limit, wanted });
      return { events: await Promise.all(events.map(views)), ...rest, end };
    },
  );
  app.get(
    '/api/events/:workspace/:logId',
    {
      schema: of('readEvent', 'One whole event.', answers.oneEvent, {
        params: z.object({ workspace: z.string(), logId: z.string() }),
      }),
    },
    async ({ params: { workspace, logId } }) => {
      const known = source.workspaces().some(({ name }) => name === workspace) && /^\d{1,15}-\d{1,19}$/.test(logId);
      const logged = known ? await source.log.stored(workspace, logId) : null;
      if (logged === null) throw new RefusedError(404, 'The log has no such event, or no longer has it.');
      return { view: await views(logged), event: logged.event };
    },
  );
}

const ofList = { params: z.object({ workspace: z.string(), list: z.string() }) };

function addLists(app: Api, { source: { feed }, clock }: EndpointDeps): void {
  const of = described('lists');
  const todos = createTodoReports((call) => feed.todos(call), clock);
  const what = 'Open, due, overdue and completed todos: in total, by person in charge, by team, and by day.';
  app.get(
    '/api/todos',
    {
      schema: of('readTodos', what, todosReport, {
        querystring: z.strictObject({
          since: z.string().max(40).default('30d').describe('a duration or a time; its minute counts'),
        }),
      }),
    },
    ({ query: { since } }) => todos(since),
  );
  app.get(
    '/api/lists/:workspace/:list/schema',
    { schema: of('readSchema', 'The fields seen in a list, and their types of values.', answers.schema, ofList) },
    async ({ params: { workspace, list } }) => readableTexts(await feed.lists.schema(list, workspace)),
  );
}

function addHeld(app: Api, { source }: EndpointDeps): void {
  const of = described('lists');
  const { lists } = source.feed;
  app.get(
    '/api/held',
    {
      config: READS_RECORDS,
      schema: of('listHeld', 'What waits until a person accepts or discards it.', answers.heldRecords),
    },
    async () => ({ held: await lists.allHeld() }),
  );
  for (const [verb, summary] of [
    ['accept', 'Lets through what a list holds: the next complete sweep reports it.'],
    ['discard', 'Forgets what a list holds: it is not reported.'],
  ] as const)
    app.post(
      `/api/lists/:workspace/:list/${verb}`,
      { config: OPERATE, schema: of(`${verb}Held`, summary, answers.done, ofList) },
      async ({ params: { workspace, list } }) => {
        const decided = await lists[verb](list, knownWorkspace(workspace, source));
        return { count: decided.reduce((sum, one) => sum + one.count, 0) };
      },
    );
}

/** The id is in the body: what is in the address is logged. */
function addErase(app: Api, { source }: EndpointDeps): void {
  const body = z.strictObject({ id: z.string().min(1).max(2_000), dryRun: z.boolean().optional() });
  const what = 'Erases a record and everything that is kept of it. With `dryRun`, only says what there is.';
  app.post(
    '/api/lists/:workspace/:list/erase',
    { config: OPERATE, schema: described('lists')('eraseRecord', what, answers.erased, { ...ofList, body }) },
    async ({ params: { workspace, list }, body: given }) => {
      const erased = await source.feed.erase({ workspace: knownWorkspace(workspace, source), list, ...given });
      return { count: erased.events + Number(erased.stored), ...erased };
    },
  );
}
