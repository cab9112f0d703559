import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import { escapeInvisible } from '../../../src/kit/printable.js';
import { message, type MessageOptions } from '../../../src/delivery/handlers/message/message.js';
import { titledText } from '../../../src/delivery/handlers/message/titled-text.js';
import { SERVICE_NAMES, SERVICES, type ServiceName } from '../../../src/delivery/handlers/message/services.js';
import { readTemplate, renderTemplate, usualMessage } from '../../../src/delivery/handlers/message/template.js';
import { chatReader, handlerContext, sampleEvent, useReceivers } from '../../support/handler-fixtures.js';

const startReceiver = useReceivers();

const event = sampleEvent();
const todo: ChangeEvent = {
  ...event,
  type: 'crm.todo.completed',
  subject: 't 1',
  data: {
    ...event.data,
    before: { id: 't 1', 제목: '후속 연락', 완료: false },
    after: { id: 't 1', 제목: '후속 연락', 완료: true, 금액: 1_350_000 },
    changes: [
      { field: '완료', before: false, after: true },
      { field: '완료 날짜', before: null, after: '2026-03-02T04:10:00.000Z' },
    ],
    actor: { type: 'user', id: 'u', name: '김담당' },
    link: 'https://crm.example/todo/t%201?a=1&b=2',
    related: {
      person: { id: 'p', title: '김고객', 등급: 'A' },
      organization: { id: 'o', title: '가나상사(주)' },
      deal: null,
    },
  },
};
const url = 'https://crm.example/todo/t%201?a=1&b=2';

/** Of people and of the CRM: what a service would take as its own markup, and addresses, which lead where they lead. */
const VALUES = [
  '<!channel> <https://evil.example|here> & @here',
  '<@&1> @everyone ||x|| [a](b)',
  'one\n > two',
  '\\\\server\\share\\',
  '<at>all</at> **b** [a](b)',
  '{{DATE(2017-02-14T06:08:39Z,SHORT)}}',
  '# big\n> said\n- one\n1. two',
  '<users/all> <https://evil.example|here> _a_',
  'https://medium.com/@kim/p?a=1&b=2',
  'see https://x.example/a*b/_next/c_(1).',
  'https://x.example/~kim/a_b *',
  'kim_@example.com',
  '[a](https://x.example/b) *c*',
  '<https://x.example/_a|*b*>',
];

/** A bot of KakaoWork needs more than a URL. */
function ofService(service: ServiceName): Partial<MessageOptions> {
  return service === 'kakaowork' ? { service, appKey: 'key', conversation: '1' } : { service };
}

async function bodyFor(options: Partial<MessageOptions>): Promise<unknown> {
  const receiver = await startReceiver(() => ({ status: 200, body: '{"success":true}' }));
  const subscription = message({ name: 'chat', url: receiver.url, allowHosts: ['127.0.0.1'], ...options });
  await subscription.handle(todo, handlerContext({ language: 'ko' }));
  await subscription.close?.();
  const [one] = receiver.received;
  expect([one?.method, one?.headers['content-type']]).toEqual(['POST', 'application/json; charset=utf-8']);
  return { accept: one?.headers.accept, body: JSON.parse(one?.body ?? '') as unknown };
}

describe('message services', () => {
  it('message: each service gets the body that its documentation says, with values as mere text (-u updates services.txt)', async () => {
    const parts = await Promise.all(
      SERVICE_NAMES.map(async (service) => {
        const escaped = VALUES.map((value) => `${value}\n=> ${SERVICES[service].escape(value)}`);
        return [`# ${service}`, JSON.stringify(await bodyFor(ofService(service)), null, 1), ...escaped].join('\n');
      }),
    );
    await expect(escapeInvisible(`${parts.join('\n\n')}\n`)).toMatchFileSnapshot('./services.txt');
  });

  it('message: one at a time, at the rate that the service documents, unless another is given', () => {
    expect(message({ name: 'chat', url }).concurrency).toBe(1);
    const rates = SERVICE_NAMES.map((service) => message({ name: 'chat', url, ...ofService(service) }).rate?.requests);
    expect(rates).toEqual([1, 1, 4, 1, 1, 1]);
    expect(message({ name: 'chat', url, service: 'teams', rate: { requests: 2 } }).rate).toEqual({
      requests: 2,
      perSeconds: 1,
    });
  });

  it('message: a bar in an address of links does not end it', () => {
    const event = { ...todo, data: { ...todo.data, link: 'https://crm.example/t|1' } };
    expect(usualMessage(event, chatReader('slack'))).toContain('<https://crm.example/t%7C1|Open>');
    expect(usualMessage(event, chatReader('google-chat'))).toContain('<https://crm.example/t%7C1|Open>');
    const template = readTemplate('<{{link}}|Open>');
    const text = template.outcome === 'read' ? renderTemplate(template.template, event, chatReader('slack')) : '';
    expect(text).toBe('<https://crm.example/t%7C1|Open>');
  });

  it('message: a card whose lines are blocks is cut by the bytes of its body, and keeps its link', () => {
    const lines = Array.from({ length: 1_900 }, (_, at) => `${at}`.slice(-1));
    const link = { text: 'Open', url: 'https://status.example' };
    const text = titledText({ title: 'many', lines, link }, SERVICES.teams);
    expect(Buffer.byteLength(JSON.stringify(SERVICES.teams.body(text)))).toBeLessThan(28_000);
    expect(text).toMatch(/…\n\[Open\]\(https:\/\/status.example\)$/);
    expect(titledText({ title: 'many', lines, link }, SERVICES.slack).length).toBeGreaterThan(3_000);
  });

  it.each([
    ['HTTP error 413 with ContextId tcid=0', /answered 413: the event is too large/],
    ['HTTP error 429 with ContextId tcid=0', /answered 429\./],
  ])('message: a connector of Teams that answers 200 and says "%s" has refused', async (said, message_) => {
    const receiver = await startReceiver(() => ({
      status: 200,
      body: `Webhook message delivery failed with error: Microsoft Teams endpoint returned ${said}`,
    }));
    const options = { name: 'chat', url: receiver.url, allowHosts: ['127.0.0.1'] };
    const teams = message({ ...options, service: 'teams' });
    await expect(teams.handle(todo, handlerContext())).rejects.toThrow(message_);
    await teams.close?.();
    const slack = message(options);
    await expect(slack.handle(todo, handlerContext())).resolves.toEqual({ status: 200 });
    await slack.close?.();
  });

  it.each(SERVICE_NAMES)('message: a text is not longer than %s takes', (service) => {
    const long = { ...todo, data: { ...todo.data, after: { id: 't', 메모: '가&'.repeat(5_000) } } };
    const template = readTemplate('{{after.메모}} '.repeat(20));
    const text = template.outcome === 'read' ? renderTemplate(template.template, long, chatReader(service)) : '';
    expect(text.length).toBeLessThanOrEqual(SERVICES[service].longest);
    expect(Buffer.byteLength(JSON.stringify(SERVICES[service].body(text)))).toBeLessThan(28 * 1_024);
  });
});

describe('message templates', () => {
  it.each([
    ['{{after.완료}}, {{raw.after.완료}}', '예, true'],
    ['{{after.금액}}, {{raw.after.금액}}', '1,350,000, 1350000'],
    ['{{time}} {{actor}} {{object}} {{verb}}', '3월 2일 (월) 13:10 김담당 TODO 완료'],
    ['{{person.등급}} {{person.title}} {{raw.person.id}}', 'A 김고객 p'],
    ['{{deal.금액 | 딜 없음}}', '딜 없음'],
    ['[열기]({{link}})', `[열기](${url})`],
  ])('message template: in Korean, %j says %j', (source, text) => {
    const read = readTemplate(source, ['person', 'deal']);
    expect(read.outcome === 'read' && renderTemplate(read.template, todo, chatReader('discord', 'ko'))).toBe(text);
  });

  it('message template: may name a related record with include', () => {
    expect(message({ name: 'chat', url, template: '{{person.이름}}', include: ['person'] }).include).toEqual({
      person: true,
    });
  });

  it('message: without a template, it says in English what happened, whose it is, what changed and where to see it', () => {
    expect(usualMessage(todo, chatReader())).toBe(
      [
        '*후속 연락* – todo completed (by 김담당)',
        '김고객 · 가나상사(주)',
        '• 완료: no → yes',
        '• 완료 날짜: – → Mon 2 Mar, 13:10',
        `<${url.replace('&', '&amp;')}|Open>`,
      ].join('\n'),
    );
  });

  it('message: a name with several lines begins no line of its own', () => {
    const actor = { type: 'user', id: 'u', name: '김담당)\n• 등급: A → B' } as const;
    const forged = { ...todo, data: { ...todo.data, actor, after: { id: 't', 제목: '후속\n연락' } } };
    expect(usualMessage(forged, chatReader()).split('\n')).toHaveLength(5);
  });

  it('message: a due todo says when, in the time zone of the workspace', () => {
    const { actor: _actor, link: _link, ...data } = todo.data;
    const due = { ...todo, type: 'crm.todo.overdue', data: { ...data, changes: [], due: '2026-03-02T09:00:00.000Z' } };
    expect(usualMessage(due, chatReader('slack', 'ko'))).toBe(
      '*후속 연락* – TODO 지연\n김고객 · 가나상사(주)\n기한: 3월 2일 (월) 18:00',
    );
  });

  it('message: a change of the schema names the field and its types', () => {
    const schema = {
      field: '등급',
      kind: 'changed',
      rows: 9,
      share: 1,
      before: ['string'],
      after: ['number'],
    } as const;
    const data = { ...event.data, before: null, after: null, changes: [], schema };
    const changed = { ...event, type: 'crm.person.schema_changed', subject: 'schema:등급', data };
    expect(usualMessage(changed, chatReader('slack', 'ko'))).toBe('*등급* – 고객 필드가 바뀜\n• 등급: string → number');
  });
});
