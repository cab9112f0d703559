import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { blocksOf, readClick } from '../../../src/delivery/handlers/message/buttons.js';
import { message, type MessageOptions } from '../../../src/delivery/handlers/message/message.js';
import { isSignedBySlack } from '../../../src/delivery/handlers/message/slack-signature.js';
import { handlerContext, sampleEvent, useReceivers } from '../../support/handler-fixtures.js';

const startReceiver = useReceivers();

/** The example of Slack's documentation of signed requests. */
const EXAMPLE = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  timestamp: '1531420618',
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
};
const AT_MS = Number(EXAMPLE.timestamp) * 1_000;

it('slack signature: the documented example is genuine, and nothing that differs from it', () => {
  const { secret, timestamp, signature } = EXAMPLE;
  const body = Buffer.from(EXAMPLE.body);
  const judged = (given: object, key = secret, nowMs = AT_MS): boolean =>
    isSignedBySlack({ timestamp, signature, body, ...given }, key, nowMs);
  expect(judged({})).toBe(true);
  expect([judged({}, secret, AT_MS + 300_000), judged({}, secret, AT_MS - 300_000)]).toEqual([true, true]);
  const wrong = [
    judged({ body: Buffer.concat([body, Buffer.from('x')]) }),
    judged({ timestamp: '1531420619' }),
    judged({ signature: signature.replace('a', 'b') }),
    judged({ signature: '' }),
    judged({ signature: 'v0=' }),
    judged({ signature: signature.slice(0, -2) }),
    judged({ timestamp: '' }),
    judged({}, `${secret}x`),
    judged({}, secret, AT_MS + 300_001),
    judged({}, secret, AT_MS - 300_001),
  ];
  expect(wrong).not.toContain(true);
  // Signed with the right secret, but its time is no number.
  const odd = createHmac('sha256', secret).update('v0:Infinity:x').digest('hex');
  expect(judged({ timestamp: 'Infinity', signature: `v0=${odd}`, body: Buffer.from('x') })).toBe(false);
});

interface Button {
  type: string;
  action_id: string;
  value: string;
  text: { type: string; text: string };
}
interface Posted {
  text: string;
  blocks?: [...{ type: string; text: { type: string; text: string } }[], { type: string; elements: Button[] }];
}

async function posted(options: Partial<MessageOptions>, context = {}): Promise<Posted> {
  const receiver = await startReceiver();
  const chat = message({ name: 'chat', url: receiver.url, allowHosts: ['127.0.0.1'], ...options });
  await chat.handle(sampleEvent(), handlerContext({ subscription: 'chat', list: 'people', ...context }));
  await chat.close?.();
  return JSON.parse(receiver.received[0]?.body ?? '') as Posted;
}

const WITH = { buttons: true, signingSecret: EXAMPLE.secret } as const;

it('buttons: a message keeps its text, and has blocks within the limits of Slack', async () => {
  const { text, blocks = [] } = await posted(WITH, { language: 'ko' });
  const sections = blocks.filter(({ type }) => type === 'section') as { text: { type: string; text: string } }[];
  expect(sections.map((one) => one.text.text).join('\n')).toBe(text);
  const { elements } = blocks.at(-1) as { elements: Button[] };
  expect(elements.map((one) => [one.action_id, one.text.text])).toEqual([
    ['changefeed_snooze', '하루 동안 알리지 않기'],
    ['changefeed_mute', '이 레코드 그만 알리기'],
  ]);
  for (const one of elements) {
    expect(one.action_id.length).toBeLessThanOrEqual(255);
    expect(one.value.length).toBeLessThanOrEqual(2_000);
    expect(one.text.text.length).toBeLessThanOrEqual(75);
    expect(readClick(one)?.about).toEqual({
      subscription: 'chat',
      workspace: 'acme',
      list: 'people',
      id: sampleEvent().subject,
    });
  }
  expect(JSON.stringify(blocks)).not.toContain(EXAMPLE.secret);
});

it('buttons: a long text is several sections, and a record whose id is too long has none', () => {
  const about = { subscription: 's', workspace: 'w', list: 'people', id: 'p' } as const;
  const text = Array.from({ length: 49 }, () => '가'.repeat(80)).join('\n');
  const sections = (blocksOf(text, about, 'en') ?? []).slice(0, -1) as { text: { text: string } }[];
  expect(sections.length).toBeGreaterThan(1);
  for (const one of sections) expect(one.text.text.length).toBeLessThanOrEqual(3_000);
  expect(sections.map((one) => one.text.text).join('\n')).toBe(text);
  expect(blocksOf(text, { ...about, id: 'x'.repeat(2_000) }, 'en')).toBeNull();
});

it('buttons: there are none without the option, in a test, and of what is no record', async () => {
  expect((await posted({})).blocks).toBeUndefined();
  expect((await posted(WITH, { test: true })).blocks).toBeUndefined();
  expect((await posted(WITH, { list: null })).blocks).toBeUndefined();
  expect(readClick({ action_id: 'changefeed_mute', value: '{"s":1}' })).toBeNull();
  expect(readClick({ action_id: 'toString', value: '{}' })).toBeNull();
});

it.each([
  ['of another service', { service: 'discord', ...WITH }, "service: 'slack'"],
  ['without a secret', { buttons: true }, 'signing secret'],
  ['with a secret that is none', { buttons: true, signingSecret: 'short' }, 'signing secret'],
  ['with own blocks', { ...WITH, payload: { blocks: [] } }, 'without blocks'],
] as const)('buttons: are refused %s', (_what, options, why) => {
  const build = () => message({ name: 'chat', url: 'https://hooks.slack.com/services/x', ...options });
  expect(build).toThrow(why);
  expect(build).not.toThrow('yyyzzz');
});
