/** What the page asks about subscriptions, and what an operator decides about them. Each route is one call of the feed. */
import { z } from 'zod';
import { DELIVERY_OUTCOMES, subscriptionDetails, type DeliveryRow } from '../../../delivery/receipts/delivery-row.js';
import type { ReplayCall } from '../../../delivery/replay.js';
import { triedSchema } from '../../../delivery/tried.js';
import { verifiedSchema } from '../../../delivery/verify/verified.js';
import * as answers from './answers.js';
import { described, OPERATE, READS_LOG, READS_RECORDS, RefusedError, type Api } from './api.js';
import { knownWorkspace } from './event-filter.js';
import { readableTexts } from './event-view.js';
import type { EndpointDeps } from './source.js';

const of = described('subscriptions');
const named = { params: z.object({ name: z.string() }) };

export function addSubscriptions(app: Api, deps: EndpointDeps): void {
  addDeliveries(app, deps);
  addTry(app, deps);
  addPause(app, deps);
  addReplay(app, deps);
  addVerify(app, deps);
  addTest(app, deps);
  addSkip(app, deps);
  addLeftBehind(app, deps);
  addDeadLetters(app, deps);
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

function addDeliveries(app: Api, deps: EndpointDeps): void {
  const { dispatcher } = deps.source;
  const what = 'Who got an event, when, after how many attempts, with what answer; newest first.';
  app.get(
    '/api/deliveries',
    { config: READS_LOG, schema: of('listDeliveries', what, answers.deliveries, { querystring: deliveriesQuery }) },
    async ({ query }) => ({ deliveries: await withTitles(await dispatcher.deliveries(query), deps) }),
  );
  const how = 'Where it delivers, what it selects, and how its deliveries went.';
  app.get(
    '/api/subscriptions/:name',
    { schema: of('readSubscription', how, subscriptionDetails, named) },
    ({ params: { name } }) => dispatcher.describeSubscription(name),
  );
}

/** A receipt has ids only, which say nothing to a person. */
async function withTitles(rows: readonly DeliveryRow[], { source, views }: EndpointDeps) {
  const titles = new Map<string, Promise<string | null>>();
  const read = async ({ workspace, logId }: DeliveryRow): Promise<string | null> => {
    const logged = await source.log.stored(workspace, logId);
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

function addTry(app: Api, { source: { dispatcher } }: EndpointDeps): void {
  app.get(
    '/api/try',
    {
      config: READS_LOG,
      schema: of('trySubscription', 'What a subscription would have got, and why not the rest.', triedSchema, {
        querystring: z.strictObject({
          subscription: z.string(),
          last: z.string().max(20).default('7d').describe('how far back: a duration'),
          workspace: z.string().optional().describe('default: all'),
          list: z.string().optional().describe('with `record`: its list'),
          record: z.string().optional().describe('only the events of this record, each with why it is not selected'),
          examples: z.coerce.number().int().min(0).max(1_000).optional().describe('default: 10; of a record: all'),
        }),
      }),
    },
    async ({ query: { subscription, list, record, ...call } }) => {
      if ((list === undefined) !== (record === undefined)) throw new RefusedError(400, 'Give both list and record.');
      const one = list === undefined || record === undefined ? undefined : { list, id: record };
      return readableTexts(await dispatcher.try(subscription, { ...call, record: one }));
    },
  );
}

function addPause(app: Api, { source: { dispatcher } }: EndpointDeps): void {
  const body = z.strictObject({ reason: z.string().trim().max(200).optional() });
  const what = 'Stops deliveries to a subscription. Its events wait.';
  app.post(
    '/api/subscriptions/:name/pause',
    { config: OPERATE, schema: of('pauseSubscription', what, answers.done, { ...named, body }) },
    async ({ params: { name }, body: { reason = '' }, caller }) => {
      const by = caller?.name == null ? 'on the status page' : `by ${caller.name}`;
      const text = reason === '' ? `paused ${by}.` : `paused ${by}: ${reason}.`;
      return { count: Number(await dispatcher.pause(name, text)) };
    },
  );
  app.post(
    '/api/subscriptions/:name/resume',
    { config: OPERATE, schema: of('resumeSubscription', 'Continues where it was paused.', answers.done, named) },
    async ({ params: { name } }) => ({ count: Number((await dispatcher.resume(name)) !== null) }),
  );
}

function addReplay(app: Api, { source }: EndpointDeps): void {
  const { dispatcher } = source;
  const body = z.strictObject({
    from: z.string().max(40).describe('a log id, a time, or `beginning`'),
    to: z.string().max(40).optional().describe('a log id, the last one'),
    workspace: z.string().optional(),
    record: z.string().max(200).optional().describe('only events of the record with this id'),
    types: z.array(z.string().max(200)).min(1).max(20).optional().describe('patterns of event types'),
    where: z.looseObject({}).optional().describe('conditions, as `where` of a subscription'),
    failed: z.boolean().optional().describe('only what ended dead and is no dead letter now'),
    dryRun: z.boolean().optional(),
  });
  const what = 'Sends a range of the log to a subscription again. With `dryRun`, only counts.';
  app.post(
    '/api/subscriptions/:name/replay',
    { config: OPERATE, schema: of('replaySubscription', what, answers.replayed, { ...named, body }) },
    async ({ params: { name }, body: { where, ...given } }) => {
      const workspace = knownWorkspace(given.workspace, source);
      const call = { ...given, workspace, where: where as ReplayCall['where'] };
      const { id, events } = await dispatcher.replay({ ...call, subscription: name, wait: false });
      return { id, count: events };
    },
  );
  const which = z.strictObject({ id: z.string().optional().describe('default: all') });
  const stops = 'Stops replays of a subscription; `replays` of its status shows them.';
  app.post(
    '/api/subscriptions/:name/replay/stop',
    { config: OPERATE, schema: of('stopReplay', stops, answers.done, { ...named, body: which }) },
    async ({ params: { name }, body: { id } }) => ({ count: await dispatcher.stopReplay(name, id) }),
  );
}

function addVerify(app: Api, { source }: EndpointDeps): void {
  const body = z.strictObject({
    workspace: z.string().optional().describe('default: all'),
    repair: z.boolean().optional().describe('sends the records that are wrong again'),
  });
  const what = 'Compares the tables of a subscription with what the CRM showed last.';
  app.post(
    '/api/subscriptions/:name/verify',
    { config: OPERATE, schema: of('verifySubscription', what, verifiedSchema, { ...named, body }) },
    async ({ params: { name }, body: { workspace, repair } }) => {
      const call = { workspace: knownWorkspace(workspace, source), repair };
      return await source.dispatcher.verify(name, undefined, call);
    },
  );
}

function addTest(app: Api, { source: { feed } }: EndpointDeps): void {
  const body = z.strictObject({
    type: z.string().max(200).optional().describe('an event type; default: the first that it selects'),
    run: z.boolean().optional().describe('needed for a handler that is a function'),
  });
  const what = 'Sends one example event to the handler of a subscription.';
  app.post(
    '/api/subscriptions/:name/test',
    { config: OPERATE, schema: of('testSubscription', what, answers.tested, { ...named, body }) },
    async ({ params: { name }, body: call }) => readableTexts(await feed.test(name, call)),
  );
}

function addSkip(app: Api, { source }: EndpointDeps): void {
  const body = z.strictObject({ workspace: z.string().optional(), dryRun: z.boolean().optional() });
  const what = 'Drops everything that waits for a subscription.';
  app.post(
    '/api/subscriptions/:name/skip',
    { config: OPERATE, schema: of('skipSubscription', what, answers.skipped, { ...named, body }) },
    async ({ params: { name }, body: call }) => {
      const workspace = knownWorkspace(call.workspace, source);
      const skipped = await source.dispatcher.skip(name, { ...call, workspace });
      return { count: skipped.unread + skipped.queued, ...skipped };
    },
  );
}

function addLeftBehind(app: Api, { source: { feed }, status }: EndpointDeps): void {
  const what = 'What is stored under names of subscriptions that this configuration does not have.';
  app.get('/api/subscriptions/left-behind', { schema: of('listLeftBehind', what, answers.leftBehind) }, async () => {
    const configured = new Set((await status()).subscriptions.map(({ name }) => name));
    const all = await feed.storedSubscriptions();
    return { subscriptions: all.filter(({ subscription }) => !configured.has(subscription)) };
  });
  const body = z.strictObject({ dryRun: z.boolean().optional() });
  const removes = 'Removes what is stored of a subscription that is no longer configured.';
  app.post(
    '/api/subscriptions/:name/forget',
    { config: OPERATE, schema: of('forgetSubscription', removes, answers.stored, { ...named, body }) },
    async ({ params: { name }, body: { dryRun = false } }) => await feed.forgetSubscription(name, { dryRun }),
  );
}

const MOST_DEAD_LETTERS = 200;

function addDeadLetters(app: Api, { source: { dispatcher }, views }: EndpointDeps): void {
  const ofLetters = described('dead letters');
  const reason = z.string().min(1).max(4_000).optional().describe('part of the message of the last failure');
  const limit = z.coerce.number().int().min(1).max(MOST_DEAD_LETTERS).default(50);
  const querystring = z.strictObject({ subscription: z.string().optional(), reason, limit });
  // An empty request must not drop all dead letters: that cannot be undone.
  const body = z
    .strictObject({
      subscription: z.string().optional().describe('left out: all subscriptions'),
      ids: z.array(z.string()).min(1).max(MOST_DEAD_LETTERS).optional(),
      reason,
      all: z.literal(true).optional().describe('needed when nothing else is given'),
    })
    .refine((given) => Object.values(given).some((one) => one !== undefined), 'give subscription, ids, reason or all');
  const what = 'Events that could not be handled, newest first.';
  app.get(
    '/api/dead-letters',
    { config: READS_RECORDS, schema: ofLetters('listDeadLetters', what, answers.deadLetters, { querystring }) },
    async ({ query }) => {
      const found = await dispatcher.deadLetters.list(query);
      const deadLetters = found.map(async ({ event, ...letter }) => {
        return { ...letter, event: await views({ logId: letter.logId, event }) };
      });
      return { deadLetters: await Promise.all(deadLetters) };
    },
  );
  for (const [verb, summary] of [
    ['retry', 'Hands dead letters to their handler again.'],
    ['drop', 'Deletes dead letters.'],
  ] as const)
    app.post(
      `/api/dead-letters/${verb}`,
      { config: OPERATE, schema: ofLetters(`${verb}DeadLetters`, summary, answers.done, { body }) },
      async ({ body: chosen }) => ({ count: await dispatcher.deadLetters[verb](chosen) }),
    );
}
