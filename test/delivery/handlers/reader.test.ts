import { expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import { defineHandler } from '../../../src/delivery/handlers/define.js';
import type { HandlerContext } from '../../../src/delivery/handlers/handler.js';
import { eventually } from '../../support/eventually.js';
import { problemsOf } from '../../support/event-schemas.js';
import { aSubscription, NO_SURROUNDINGS } from '../../support/fan-out.js';
import { appendEvents, changeEvent } from '../../support/events.js';
import { baselined, eventsOf, openFeed } from '../../support/feed.js';
import { useReceivers } from '../../support/handler-fixtures.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';
import { runFanOut } from '../../support/running-fan-out.js';

const redis = useRedis();
const startReceiver = useReceivers();

const ON = ['crm.todo.completed'];
const INCLUDE = ['person', 'organization', 'deal'];
const lists = { memo: false, history: false, activity: false };

/** A todo of a person and an organization, which is completed when the feed runs. */
async function completedTodo(subscriptions: readonly object[], workspace: object = {}) {
  const crm = await startOtherCrm();
  crm.lists.people = [{ id: 'p1', 이름: '김고객', 등급: 'A', '수정 날짜': '2026-03-01T00:00:00.000Z' }];
  crm.lists.organization = [{ id: 'o1', 이름: '가나상사(주)', '수정 날짜': '2026-03-01T00:00:00.000Z' }];
  const todo = { id: 't/(1)', 제목: '후속 연락', 완료: false, peopleId: 'p1', organizationId: 'o1', dealId: 'd1' };
  crm.lists.todo = [todo];
  const given = { name: 'acme', baseUrl: crm.url, token: crm.token, lists, ...workspace };
  const feed = await openFeed(redis, { workspaces: [given], subscriptions });
  await feed.start(['dispatch', 'handle']);
  for (const list of ['people', 'organization', 'todo'] as const) await feed.sweep({ lists: [list] });
  await baselined(feed);
  crm.lists.todo = [{ ...todo, 완료: true }];
  await feed.sweep({ lists: ['todo'] });
  return feed;
}

it('messages: a completed todo in Korean, with its person, its organization and a link; a subscription may speak English', async () => {
  const [korean, english] = [await startReceiver(), await startReceiver()];
  const chat = { handler: 'message', on: ON, include: INCLUDE, allowHosts: ['127.0.0.1'] };
  await completedTodo(
    [
      { ...chat, name: 'ko', url: korean.url, service: 'google-chat' },
      { ...chat, name: 'en', url: english.url, service: 'discord', language: 'en' },
    ],
    { language: 'ko', links: { todo: 'https://crm.example/todo/{id}' } },
  );
  await eventually(() => expect([korean.received.length, english.received.length]).toEqual([1, 1]));
  expect(JSON.parse(korean.received[0]?.body ?? '')).toEqual({
    text: '*후속 연락* – TODO 완료\n김고객 · 가나상사(주)\n• 완료: 아니요 → 예\n<https://crm.example/todo/t%2F%281%29|열기>',
  });
  expect(JSON.parse(english.received[0]?.body ?? '')).toMatchObject({
    content:
      '**후속 연락** – todo completed\n김고객 · 가나상사(주)\n• 완료: no → yes\n[Open](<https://crm.example/todo/t%2F%281%29>)',
  });
});

it('related records: a webhook and a function get the fields that are asked for; what is not stored or not polled is null; the log has none of it', async () => {
  const receiver = await startReceiver();
  const seen: { data: ChangeEvent['data']; context: HandlerContext; records: unknown[] }[] = [];
  const include = { person: ['등급'], organization: true, deal: true } as const;
  const feed = await completedTodo(
    [
      {
        handler: 'webhook',
        name: 'hook',
        secret: `whsec_${'c2VzYW1l'.repeat(4)}`,
        url: receiver.url,
        allowHosts: ['127.0.0.1'],
        on: ON,
        include,
      },
      defineHandler({
        name: 'own',
        on: ['crm.todo.completed'],
        include,
        async handle({ data }, context) {
          const asked = [
            ['people', 'p1'],
            ['person', 'p1'],
            ['people', 'gone'],
            ['organization', 'o1'],
            ['nothing', 'x'],
          ];
          const records = await Promise.all(asked.map(([list = '', id = '']) => context.records.get(list, id)));
          seen.push({ data, context, records });
        },
      }),
    ],
    { lists: { ...lists, organization: false }, links: { person: 'https://crm.example/{id}' } },
  );
  await eventually(() => expect([receiver.received.length, seen.length]).toEqual([1, 1]));
  const related = { person: { id: 'p1', title: '김고객', 등급: 'A' }, organization: null, deal: null };
  const event = JSON.parse(receiver.received[0]?.body ?? '') as ChangeEvent;
  expect([event.data.related, seen[0]?.data.related]).toEqual([related, related]);
  expect(problemsOf(event)).toEqual([]);
  const person = { id: 'p1', 이름: '김고객', 등급: 'A' };
  expect(seen[0]?.records).toMatchObject([person, person, null, null, null]);
  expect(seen[0]?.context).toMatchObject({ language: 'en', timeZone: 'Asia/Seoul' });
  const [logged] = await eventsOf(feed, ON);
  expect(Object.keys(logged?.data ?? {})).not.toEqual(expect.arrayContaining(['related']));
});

it('related records: while Redis cannot be read, the attempt fails and is repeated: there is no event without them', async () => {
  const seen: unknown[] = [];
  const subscription = aSubscription('s', ({ data }) => void seen.push(data.related), {
    include: { person: true },
    retry: { attempts: 5, delayMs: 1, maxDelayMs: 1 },
  });
  let failures = 2;
  const fan = await runFanOut(redis, [subscription], {
    surroundingsOf: () => ({
      ...NO_SURROUNDINGS,
      record: () =>
        failures-- > 0 ? Promise.reject(new Error('Connection is closed.')) : Promise.resolve({ id: 'p1' }),
    }),
  });
  const event = changeEvent({ record: 't', sequence: 1 });
  const after = { id: 't', peopleId: 'p1' };
  await appendEvents(redis, [{ ...event, data: { ...event.data, after } }]);
  await eventually(() => expect([failures, seen]).toEqual([-1, [{ person: { id: 'p1', title: 'p1' } }]]));
  await fan.settled();
});

it('related records: what was stored before a list was switched off is not shown', async () => {
  const seen: unknown[] = [];
  const own = defineHandler({
    name: 'own',
    on: ['crm.todo.completed'],
    include: ['person', 'organization'],
    start: 'beginning',
    handle: ({ data }) => void seen.push(data.related),
  });
  await (await completedTodo([])).stop();
  const workspaces = [{ name: 'acme', baseUrl: 'http://127.0.0.1:9/api', token: 'token', lists: { people: false } }];
  await (await openFeed(redis, { workspaces, subscriptions: [own] })).start(['dispatch', 'handle']);
  await eventually(() => expect(seen).toMatchObject([{ person: null, organization: { title: '가나상사(주)' } }]));
});
