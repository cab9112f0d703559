/** What an operator decides about a subscription, or about what a list holds. Each is one call of the feed; who decided it is logged. */
import { z } from 'zod';
import type { ReplayCall } from '../../../delivery/replay.js';
import type { Status } from '../../status.js';
import * as answers from './answers.js';
import { RefusedError, type Api } from './api.js';
import { readableTexts } from './event-view.js';
import type { PageSource } from './source.js';

const OPERATE = { access: 'operate' } as const;
const tagged = (tag: string) => (operationId: string, summary: string) => ({ tags: [tag], operationId, summary });

interface Deps {
  source: PageSource;
  status: () => Promise<Status>;
}

export function addActions(app: Api, { source, status }: Deps): void {
  addReplay(app, source);
  addTest(app, source);
  addLeftBehind(app, { source, status });
  addHeld(app, source);
  const params = z.object({ name: z.string() });
  app.post(
    '/api/subscriptions/:name/skip',
    {
      config: OPERATE,
      schema: {
        ...tagged('subscriptions')('skipSubscription', 'Drops everything that waits for a subscription.'),
        params,
        body: z.strictObject({ workspace: z.string().optional(), dryRun: z.boolean().optional() }),
        response: { 200: answers.skipped },
      },
    },
    async ({ params: { name }, body }) => {
      const skipped = await source.feed.skip(name, { ...body, workspace: known(body.workspace, source) });
      return { count: skipped.unread + skipped.queued, ...skipped };
    },
  );
}

function addTest(app: Api, { feed }: PageSource): void {
  app.post(
    '/api/subscriptions/:name/test',
    {
      config: OPERATE,
      schema: {
        ...tagged('subscriptions')('testSubscription', 'Sends one example event to the handler of a subscription.'),
        params: z.object({ name: z.string() }),
        body: z.strictObject({
          type: z.string().max(200).optional().describe('an event type; default: the first that it selects'),
          run: z.boolean().optional().describe('needed for a handler that is a function'),
        }),
        response: { 200: answers.tested },
      },
    },
    async ({ params: { name }, body: { type, run = false } }) => readableTexts(await feed.test(name, { type, run })),
  );
}

function addReplay(app: Api, { feed, ...source }: PageSource): void {
  const of = tagged('subscriptions');
  const params = z.object({ name: z.string() });
  app.post(
    '/api/subscriptions/:name/replay',
    {
      config: OPERATE,
      schema: {
        ...of('replaySubscription', 'Sends a range of the log to a subscription again. With `dryRun`, only counts.'),
        params,
        body: z.strictObject({
          from: z.string().max(40).describe('a log id, a time, or `beginning`'),
          to: z.string().max(40).optional().describe('a log id, the last one'),
          workspace: z.string().optional(),
          record: z.string().max(200).optional().describe('only events of the record with this id'),
          types: z.array(z.string().max(200)).min(1).max(20).optional().describe('patterns of event types'),
          where: z.looseObject({}).optional().describe('conditions, as `where` of a subscription'),
          failed: z.boolean().optional().describe('only what ended dead and is no dead letter now'),
          dryRun: z.boolean().optional(),
        }),
        response: { 200: answers.replayed },
      },
    },
    async ({ params: { name }, body: { where, ...body } }) => {
      const call = { ...body, workspace: known(body.workspace, source), where: where as ReplayCall['where'] };
      const { id, events } = await feed.replay({ ...call, subscription: name, wait: false });
      return { id, count: events };
    },
  );
  app.post(
    '/api/subscriptions/:name/replay/stop',
    {
      config: OPERATE,
      schema: {
        ...of('stopReplay', 'Stops replays of a subscription; `replays` of its status shows them.'),
        params,
        body: z.strictObject({ id: z.string().optional().describe('default: all') }),
        response: { 200: answers.done },
      },
    },
    async ({ params: { name }, body: { id } }) => ({ count: await feed.stopReplay(name, id) }),
  );
}

function addLeftBehind(app: Api, { source: { feed }, status }: Deps): void {
  const of = tagged('subscriptions');
  const params = z.object({ name: z.string() });
  app.get(
    '/api/subscriptions/left-behind',
    {
      schema: {
        ...of('listLeftBehind', 'What is stored under names of subscriptions that this configuration does not have.'),
        response: { 200: answers.leftBehind },
      },
    },
    async () => {
      const configured = new Set((await status()).subscriptions.map(({ name }) => name));
      const all = await feed.storedSubscriptions();
      return { subscriptions: all.filter(({ subscription }) => !configured.has(subscription)) };
    },
  );
  app.post(
    '/api/subscriptions/:name/forget',
    {
      config: OPERATE,
      schema: {
        ...of('forgetSubscription', 'Removes what is stored of a subscription that is no longer configured.'),
        params,
        body: z.strictObject({ dryRun: z.boolean().optional() }),
        response: { 200: answers.stored },
      },
    },
    async ({ params: { name }, body: { dryRun = false } }) => await feed.forgetSubscription(name, { dryRun }),
  );
  app.post(
    '/api/subscriptions/:name/rename',
    {
      config: OPERATE,
      schema: {
        ...of('renameSubscription', 'Gives a subscription what is stored under a former name.'),
        params: params.describe('the former name'),
        body: z.strictObject({ to: z.string() }),
        response: { 200: answers.stored },
      },
    },
    async ({ params: { name }, body: { to } }) => await feed.renameSubscription(name, to),
  );
}

function addHeld(app: Api, { feed, ...source }: PageSource): void {
  const of = tagged('lists');
  app.get(
    '/api/held',
    {
      schema: {
        ...of('listHeld', 'What waits until a person accepts or discards it.'),
        response: { 200: answers.heldRecords },
      },
    },
    async () => ({ held: await feed.lists.allHeld() }),
  );
  for (const [verb, summary] of [
    ['accept', 'Lets through what a list holds: the next complete sweep reports it.'],
    ['discard', 'Forgets what a list holds: it is not reported.'],
  ] as const)
    app.post(
      `/api/lists/:workspace/:list/${verb}`,
      {
        config: OPERATE,
        schema: {
          ...of(`${verb}Held`, summary),
          params: z.object({ workspace: z.string(), list: z.string() }),
          response: { 200: answers.done },
        },
      },
      async ({ params: { workspace, list } }) => {
        const decided = await feed.lists[verb](list, known(workspace, source) ?? workspace);
        return { count: decided.reduce((sum, one) => sum + one.count, 0) };
      },
    );
}

/** @throws RefusedError 404 */
function known(workspace: string | undefined, { workspaces }: Pick<PageSource, 'workspaces'>): string | undefined {
  if (workspace === undefined || workspaces().some(({ name }) => name === workspace)) return workspace;
  throw new RefusedError(404, `There is no workspace "${workspace}".`);
}
