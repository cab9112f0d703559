/** Actions on a subscription. */
import { z } from 'zod';
import { MOST_ROWS } from '../delivery/receipts/find-deliveries.js';
import { DELIVERY_OUTCOMES, subscriptionDetails, type DeliveryRow } from '../delivery/receipts/delivery-row.js';
import { isoTime, systemClock } from '../kit/clock.js';
import { parseDuration } from '../kit/duration.js';
import { printable } from '../kit/printable.js';
import type { ReplayCall } from '../delivery/act/replay.js';
import { FIRST_ANSWER_MS } from '../delivery/ask/try.js';
import { triedSchema } from '../delivery/ask/tried.js';
import { verifiedSchema } from '../delivery/verify/verified.js';
import * as answers from '../ops/server/page/answers.js';
import { readableTexts } from '../ops/server/page/event-view.js';
import type { EndpointDeps } from '../ops/server/page/source.js';
import { defineAction, definePageAction, type Speech } from './define.js';
import { deliverySheet } from './sheets.js';
import { dryRun, eventTypes, short, subscription, workspace } from './fields.js';

export const listDeliveries = definePageAction({
  name: 'deliveries',
  id: 'listDeliveries',
  on: 'subscriptions',
  route: 'GET /api/deliveries',
  about: [
    'Who got an event, when, after how many attempts, with what answer; newest first.',
    '어떤 이벤트를 누가, 언제, 몇 번 만에, 어떤 응답으로 받았는지. 최근 것부터.',
  ],
  input: z.strictObject({
    event: short.describe('the id of an event, or its position `acme@1700000000000-0`: every subscription answers'),
    list: short.describe('with `record`: the name of its list'),
    record: short.describe("the record's id"),
    subscription: short.describe('only those of this subscription'),
    workspace: short.describe('only those of this workspace'),
    outcome: z
      .enum([...DELIVERY_OUTCOMES, 'failed'])
      .optional()
      .describe('`failed`: retry and dead'),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(500)
      .default(50)
      .describe('at most this many, newest first (default: 50)'),
  }),
  answer: answers.deliveries,
  cost: 'log',
  run: async (query, { feed, page }) => ({ deliveries: await withTitles(await feed.deliveries(query), page) }),
  sheet: async (query, { feed }) => deliverySheet(await feed.deliveries({ ...query, limit: MOST_ROWS })),
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
  about: [
    'Where it delivers, what it selects, and how its deliveries went.',
    '어디로 보내는지, 무엇을 고르는지, 전달이 어땠는지.',
  ],
  input: z.strictObject({ subscription }),
  answer: subscriptionDetails,
  run: ({ subscription: name }, { feed }) => feed.describeSubscription(name),
  says({ name, handler, address, selection: { on }, lastHour: { outcomes } }, { t }) {
    return t('describeSubscription.done', {
      ...outcomes,
      subscription: name,
      place: address ?? handler,
      on: on.join(', '),
    });
  },
});

export const trySubscription = defineAction({
  name: 'try',
  id: 'trySubscription',
  on: 'subscriptions',
  route: 'GET /api/try',
  about: [
    'What a subscription would have got, and why not the rest.',
    '받는 곳이 받았을 것과, 나머지를 받지 않았을 이유.',
  ],
  input: z
    .strictObject({
      subscription,
      last: z.string().max(20).default('7d').describe('how far back: a duration (default: 7d)'),
      workspace,
      list: z.string().optional().describe('with `record`: its list'),
      record: z.string().optional().describe('only this record: each of its events, and why it was not selected'),
      search: z.string().trim().min(1).max(200).optional().describe('only records that are called so, or have this id'),
      from: z.string().max(2_000).optional().describe('`next` of the answer before'),
      examples: z.coerce
        .number()
        .int()
        .min(0)
        .max(1_000)
        .optional()
        .describe('at most this many of the selected events (default: 10; of a record: all)'),
    })
    .refine(({ list, record }) => (list === undefined) === (record === undefined), 'give both list and record'),
  answer: triedSchema,
  cost: 'log',
  async run({ subscription: name, list, record, ...call }, { feed, signal = AbortSignal.timeout(FIRST_ANSWER_MS) }) {
    const one = list === undefined || record === undefined ? undefined : { list, id: record };
    return readableTexts(await feed.try(name, { ...call, record: one, signal }));
  },
  failed: ({ next }) => next !== null,
});

export const pause = defineAction({
  name: 'pause',
  id: 'pauseSubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/pause',
  about: [
    'Stops deliveries to a subscription. Its events wait.',
    '받는 곳으로 보내기를 멈춥니다. 이벤트는 기다립니다.',
  ],
  input: z.strictObject({
    subscription,
    reason: z.string().trim().max(200).optional().describe('reason shown in "status" (default: paused manually)'),
  }),
  answer: answers.done,
  async run({ subscription: name, reason }, { feed, who }) {
    return { count: Number(await feed.pause(name, pausedText(reason, who))) };
  },
  says: ({ count }, { t }, input) =>
    t(count === 1 ? 'pause.done' : 'pause.already', { subscription: input.subscription }),
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
  about: ['Continues where it was paused.', '멈춘 곳부터 이어서 보냅니다.'],
  input: z.strictObject({ subscription }),
  answer: answers.resumed,
  async run({ subscription: name }, { feed }) {
    const was = await feed.resume(name);
    return { count: Number(was !== null), was };
  },
  says({ was }, { t, dateTime }, { subscription: name }) {
    if (was === null) return t('resume.not', { subscription: name });
    const at = was.at === null ? '–' : dateTime(was.at);
    const done = t('resume.done', { subscription: name, at, reason: printable(was.reason) });
    return was.missing ? `${done} ${t('resume.missing')}` : done;
  },
});

export const replay = defineAction({
  name: 'replay',
  id: 'replaySubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/replay',
  about: [
    'Sends a range of the log to a subscription again. With `dryRun`, only counts.',
    '로그의 한 구간을 받는 곳에 다시 보냅니다. `dryRun`이면 세기만 합니다.',
  ],
  input: z.strictObject({
    subscription,
    from: z.string().max(40).describe('the first event: a duration such as 2h, a time, a log id, or "beginning"'),
    to: z.string().max(40).optional().describe('a log id, the last one (default: as far as the subscription has read)'),
    workspace,
    record: z.string().max(200).optional().describe('only events of this record'),
    types: eventTypes,
    where: z
      .looseObject({})
      .optional()
      .describe('only events for which these conditions hold too, such as {"금액":{"rises":true}}'),
    failed: z
      .boolean()
      .optional()
      .describe('only events whose last delivery ended dead (not those that are dead letters now)'),
    dryRun,
  }),
  answer: answers.replayed,
  async run({ where, from, ...call }, { feed, ...acting }) {
    const { signal, onProgress } = acting;
    const asked = { ...call, from: timeBack(from), where: where as ReplayCall['where'], signal, onProgress };
    const { id, events, interrupted, atLeastSeconds } = await feed.replay({ ...asked, wait: signal !== undefined });
    return { id, count: events, interrupted, atLeastSeconds };
  },
  says({ count, interrupted, atLeastSeconds }, { t, countOf, duration }, { subscription: name, dryRun: isAsked }) {
    const how = isAsked === true ? 'dryRun' : interrupted ? 'interrupted' : 'done';
    const text = t(`replay.${how}`, { subscription: name, events: countOf('event', count) });
    if (atLeastSeconds === null || atLeastSeconds === 0) return text;
    return `${text} ${t('replay.lasts', { duration: duration(atLeastSeconds * 1_000) })}`;
  },
  failed: ({ interrupted }) => interrupted,
});

/** A duration is a time so long ago. */
function timeBack(from: string): string {
  const ms = parseDuration(from);
  return ms === undefined ? from : isoTime(systemClock.now() - ms);
}

export const stopReplay = defineAction({
  name: 'replay stop',
  id: 'stopReplay',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/replay/stop',
  about: [
    'Stops what is being sent to a subscription again, and drops what of it waits in the queue.',
    '받는 곳에 다시 보내던 것을 멈추고, 그중 대기열에 있는 것을 버립니다.',
  ],
  input: z.strictObject({ subscription, id: z.string().optional().describe('only this replay (default: all)') }),
  answer: answers.stoppedReplays,
  async run({ subscription: name, id }, { feed }) {
    const { stopped, dropped } = await feed.stopReplay(name, id);
    return { count: stopped, dropped };
  },
  says: ({ count, dropped }, { t, countOf }) =>
    t(count === 0 && dropped === 0 ? 'replayStop.nothing' : 'replayStop.done', { events: countOf('event', dropped) }),
});

export const snapshot = defineAction({
  name: 'snapshot',
  id: 'snapshotSubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/snapshot',
  about: [
    'Sends a subscription every record as it is now, each list once it has been swept.',
    '받는 곳에 모든 레코드를 지금 그대로 보냅니다. 목록마다 한 번 수집된 뒤에 보냅니다.',
  ],
  input: z.strictObject({ subscription, workspace }),
  answer: answers.snapshotBegun,
  async run({ subscription: name, workspace: only }, { feed }) {
    const workspaces = await feed.snapshot(name, only);
    return { count: workspaces.length, workspaces };
  },
  says({ count, workspaces }, { t }, { subscription: name }) {
    const values = { subscription: name, workspaces: workspaces.join(', ') };
    return t(count === 0 ? 'snapshot.nothing' : 'snapshot.done', values);
  },
});

export const verify = defineAction({
  name: 'verify',
  id: 'verifySubscription',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/verify',
  about: [
    'Compares the tables of a subscription with what the CRM showed last.',
    '받는 곳의 표를 CRM이 마지막으로 보여 준 것과 비교합니다.',
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
  about: [
    'Sends one example event to the handler of a subscription.',
    '받는 곳의 핸들러에 예시 이벤트를 하나 보냅니다.',
  ],
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
  about: ['Drops everything that waits for a subscription.', '받는 곳을 기다리는 것을 모두 버립니다.'],
  input: z.strictObject({ subscription, workspace, dryRun }),
  answer: answers.skipped,
  async run({ subscription: name, ...call }, { feed }) {
    const skipped = await feed.skip(name, call);
    return { count: skipped.unread + skipped.queued, ...skipped };
  },
  confirm: (found, words, input) => words.t('skip.confirm', { waits: waitsText(found, words, input) }),
  says(found, words, input) {
    const done = words.t('skip.done', { waits: waitsText(found, words, input) });
    if (found.running === 0) return done;
    return `${done} ${words.t('skip.running', { events: words.countOf('event', found.running) })}`;
  },
});

function waitsText(
  { count, unread, queued }: z.output<typeof answers.skipped>,
  { t, number, countOf }: Speech,
  { subscription: name }: { subscription: string },
): string {
  const values = { subscription: name, unread: number(unread), queued: number(queued) };
  return t('skip.waits', { ...values, events: countOf('event', count) });
}

export const listLeftBehind = definePageAction({
  name: 'subscriptions left behind',
  id: 'listLeftBehind',
  on: 'subscriptions',
  route: 'GET /api/subscriptions/left-behind',
  about: [
    'What is stored under names of subscriptions that this configuration does not have.',
    '이 설정에 없는 받는 곳의 이름으로 저장된 것.',
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
  about: [
    'Removes what is stored of a subscription that is no longer configured.',
    '설정에서 사라진 받는 곳의 저장된 것을 지웁니다.',
  ],
  input: z.strictObject({ subscription, dryRun }),
  answer: answers.stored,
  audited: ({ waiting, dead }, { subscription: name }) => ({ subscription: name, count: waiting + dead }),
  run: ({ subscription: name, ...call }, { feed }) => feed.forgetSubscription(name, { dryRun: call.dryRun ?? false }),
  confirm: ({ waiting, dead }, { t, countOf, number }, { subscription: name }) =>
    t('forgetSubscription.confirm', { subscription: name, waiting: countOf('event', waiting), dead: number(dead) }),
  says: (_answer, { t }, { subscription: name }) => t('forgetSubscription.done', { subscription: name }),
});
