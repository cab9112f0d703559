/** What can be asked and done about a subscription. */
import { z } from 'zod';
import { DELIVERY_OUTCOMES, subscriptionDetails, type DeliveryRow } from '../delivery/receipts/delivery-row.js';
import type { ReplayCall } from '../delivery/act/replay.js';
import { FIRST_ANSWER_MS } from '../delivery/ask/try.js';
import { triedSchema } from '../delivery/ask/tried.js';
import { verifiedSchema } from '../delivery/verify/verified.js';
import * as answers from '../ops/server/page/answers.js';
import { RefusedError } from '../ops/server/page/api.js';
import { readableTexts } from '../ops/server/page/event-view.js';
import type { EndpointDeps } from '../ops/server/page/source.js';
import { defineAction, definePageAction } from './define.js';
import { dryRun, short, subscription, workspace } from './fields.js';

export const listDeliveries = definePageAction({
  name: 'deliveries',
  id: 'listDeliveries',
  on: 'subscriptions',
  route: 'GET /api/deliveries',
  says: [
    'Who got an event, when, after how many attempts, with what answer; newest first.',
    '어떤 이벤트를 누가, 언제, 몇 번 만에, 어떤 응답으로 받았는지. 최근 것부터.',
  ],
  input: z.strictObject({
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
  }),
  answer: answers.deliveries,
  cost: 'log',
  run: async (query, { feed, page }) => ({ deliveries: await withTitles(await feed.deliveries(query), page) }),
});

/** A receipt has ids only, which say nothing to a person. */
async function withTitles(rows: readonly DeliveryRow[], { source, views }: EndpointDeps) {
  const titles = new Map<string, Promise<string | null>>();
  const read = async ({ workspace: name, logId }: DeliveryRow): Promise<string | null> => {
    const logged = await source.log.stored(name, logId);
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

export const describeSubscription = defineAction({
  name: 'subscriptions show',
  id: 'readSubscription',
  on: 'subscriptions',
  route: 'GET /api/subscriptions/:subscription',
  says: [
    'Where it delivers, what it selects, and how its deliveries went.',
    '어디로 보내는지, 무엇을 고르는지, 전달이 어땠는지.',
  ],
  input: z.strictObject({ subscription }),
  answer: subscriptionDetails,
  run: ({ subscription: name }, { feed }) => feed.describeSubscription(name),
});

export const trySubscription = defineAction({
  name: 'try',
  id: 'trySubscription',
  on: 'subscriptions',
  route: 'GET /api/try',
  says: ['What a subscription would have got, and why not the rest.', '구독이 받았을 것과, 나머지를 받지 않았을 이유.'],
  input: z.strictObject({
    subscription,
    last: z.string().max(20).default('7d').describe('how far back: a duration'),
    workspace,
    list: z.string().optional().describe('with `record`: its list'),
    record: z.string().optional().describe('only the events of this record, each with why it is not selected'),
    from: z.string().max(2_000).optional().describe('`next` of the answer before'),
    examples: z.coerce.number().int().min(0).max(1_000).optional().describe('default: 10; of a record: all'),
  }),
  answer: triedSchema,
  cost: 'log',
  async run({ subscription: name, list, record, ...call }, { feed }) {
    if ((list === undefined) !== (record === undefined)) throw new RefusedError(400, 'Give both list and record.');
    const one = list === undefined || record === undefined ? undefined : { list, id: record };
    const signal = AbortSignal.timeout(FIRST_ANSWER_MS);
    return readableTexts(await feed.try(name, { ...call, record: one, signal }));
  },
});

export const pause = defineAction({
  name: 'pause',
  id: 'pauseSubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/pause',
  says: ['Stops deliveries to a subscription. Its events wait.', '구독으로 보내기를 멈춥니다. 이벤트는 기다립니다.'],
  input: z.strictObject({
    subscription,
    reason: z.string().trim().max(200).optional().describe('reason shown in "status" (default: paused manually)'),
  }),
  answer: answers.done,
  async run({ subscription: name, reason }, { feed, who }) {
    return { count: Number(await feed.pause(name, pausedText(reason, who))) };
  },
});

/** As `status` shows it. */
function pausedText(reason = '', by: string | null): string | undefined {
  if (by === null) return reason === '' ? undefined : reason;
  return reason === '' ? `paused ${by}.` : `paused ${by}: ${reason}.`;
}

export const resume = defineAction({
  name: 'resume',
  id: 'resumeSubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/resume',
  says: ['Continues where it was paused.', '멈춘 곳부터 이어서 보냅니다.'],
  input: z.strictObject({ subscription }),
  answer: answers.resumed,
  async run({ subscription: name }, { feed }) {
    const was = await feed.resume(name);
    return { count: Number(was !== null), was };
  },
});

export const replay = defineAction({
  name: 'replay',
  id: 'replaySubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/replay',
  says: [
    'Sends a range of the log to a subscription again. With `dryRun`, only counts.',
    '로그의 한 구간을 구독에 다시 보냅니다. `dryRun`이면 세기만 합니다.',
  ],
  input: z.strictObject({
    subscription,
    from: z.string().max(40).describe('a log id, a time, or `beginning`'),
    to: z.string().max(40).optional().describe('a log id, the last one'),
    workspace,
    record: z.string().max(200).optional().describe('only events of the record with this id'),
    types: z.array(z.string().max(200)).min(1).max(20).optional().describe('patterns of event types'),
    where: z.looseObject({}).optional().describe('conditions, as `where` of a subscription'),
    failed: z.boolean().optional().describe('only what ended dead and is no dead letter now'),
    dryRun,
  }),
  answer: answers.replayed,
  async run({ where, ...call }, { feed }) {
    const { id, events } = await feed.replay({ ...call, where: where as ReplayCall['where'], wait: false });
    return { id, count: events };
  },
});

export const stopReplay = defineAction({
  name: 'replay stop',
  id: 'stopReplay',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/replay/stop',
  says: [
    'Stops replays of a subscription; `replays` of its status shows them.',
    '구독에 다시 보내던 것을 멈춥니다. 상태의 `replays`에서 볼 수 있습니다.',
  ],
  input: z.strictObject({ subscription, id: z.string().optional().describe('default: all') }),
  answer: answers.done,
  run: async ({ subscription: name, id }, { feed }) => ({ count: await feed.stopReplay(name, id) }),
});

export const snapshot = defineAction({
  name: 'snapshot',
  id: 'snapshotSubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/snapshot',
  says: [
    'Sends a subscription every record as it is now, each list once it has been swept.',
    '구독에 모든 레코드를 지금 그대로 보냅니다. 목록마다 한 번 수집된 뒤에 보냅니다.',
  ],
  input: z.strictObject({ subscription, workspace }),
  answer: answers.snapshotBegun,
  async run({ subscription: name, workspace: only }, { feed }) {
    const workspaces = await feed.snapshot(name, only);
    return { count: workspaces.length, workspaces };
  },
});

export const verify = defineAction({
  name: 'verify',
  id: 'verifySubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/verify',
  says: [
    'Compares the tables of a subscription with what the CRM showed last.',
    '구독의 표를 CRM이 마지막으로 보여 준 것과 비교합니다.',
  ],
  input: z.strictObject({
    subscription,
    workspace,
    repair: z.boolean().optional().describe('send the records that are wrong again'),
  }),
  answer: verifiedSchema,
  audited: ({ repaired }, { subscription: name }) =>
    repaired === null ? null : { what: 'verify repair', subscription: name, count: repaired },
  run: ({ subscription: name, ...call }, { feed }) => feed.verify(name, undefined, call),
});

export const test = defineAction({
  name: 'test',
  id: 'testSubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/test',
  says: ['Sends one example event to the handler of a subscription.', '구독의 핸들러에 예시 이벤트를 하나 보냅니다.'],
  input: z.strictObject({
    subscription,
    type: z.string().max(200).optional().describe('an event type; default: the first that it selects'),
    run: z.boolean().optional().describe('needed for a handler that is a function'),
  }),
  answer: answers.tested,
  run: async ({ subscription: name, ...call }, { feed }) => readableTexts(await feed.test(name, call)),
});

export const skip = defineAction({
  name: 'skip',
  id: 'skipSubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/skip',
  says: ['Drops everything that waits for a subscription.', '구독을 기다리는 것을 모두 버립니다.'],
  input: z.strictObject({ subscription, workspace, dryRun }),
  answer: answers.skipped,
  async run({ subscription: name, ...call }, { feed }) {
    const skipped = await feed.skip(name, call);
    return { count: skipped.unread + skipped.queued, ...skipped };
  },
});

export const listLeftBehind = definePageAction({
  name: 'subscriptions left behind',
  id: 'listLeftBehind',
  on: 'subscriptions',
  route: 'GET /api/subscriptions/left-behind',
  says: [
    'What is stored under names of subscriptions that this configuration does not have.',
    '이 설정에 없는 구독의 이름으로 저장된 것.',
  ],
  input: z.strictObject({}),
  answer: answers.leftBehind,
  async run(_input, { feed, page }) {
    const configured = new Set((await page.status()).subscriptions.map(({ name }) => name));
    const all = await feed.storedSubscriptions();
    return { subscriptions: all.filter(({ subscription: name }) => !configured.has(name)) };
  },
});

export const forgetSubscription = defineAction({
  name: 'subscriptions forget',
  id: 'forgetSubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/forget',
  says: [
    'Removes what is stored of a subscription that is no longer configured.',
    '설정에서 사라진 구독의 저장된 것을 지웁니다.',
  ],
  input: z.strictObject({ subscription, dryRun }),
  answer: answers.stored,
  audited: ({ waiting, dead }, { subscription: name }) => ({ subscription: name, count: waiting + dead }),
  run: ({ subscription: name, ...call }, { feed }) => feed.forgetSubscription(name, { dryRun: call.dryRun ?? false }),
});
