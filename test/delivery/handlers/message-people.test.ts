import { describe, expect, it } from 'vitest';
import type { Subscription } from '../../../src/delivery/handlers/handler.js';
import { message, type MessageOptions } from '../../../src/delivery/handlers/message/message.js';
import { SERVICES } from '../../../src/delivery/handlers/message/services.js';
import { PermanentError } from '../../../src/delivery/handlers/errors.js';
import { DigestSums } from '../../../src/delivery/handlers/summary.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { changeEvent } from '../../support/events.js';
import { failureOf, handlerContext, useReceivers, type Receiver } from '../../support/handler-fixtures.js';

const startReceiver = useReceivers();

const KIM = { id: 'u1', name: '김담당' };
const people = {
  김담당: {
    slack: 'U012AB3CD',
    discord: '80351110224678912',
    googleChat: '107946847022116401880',
    email: 'kim@acme.example',
  },
  u2: { slack: 'U0LEE', email: 'lee@acme.example', kakaowork: 'lee@kakao.example' },
};
const APP_KEY = 'c0ffee00.0123456789abcdef';

function owned(record: string, owner: { id: string; name: string } | null, 이름 = `고객 ${record}`): ChangeEvent {
  const event = changeEvent({ record, sequence: 1 });
  const after = { id: record, 이름, ...(owner !== null && { 담당자: owner }) };
  return { ...event, data: { ...event.data, before: null, after, changes: [] } };
}

function digestOf(events: readonly ChangeEvent[]) {
  const sums = new DigestSums();
  events.forEach((event, at) => sums.add({ logId: `1772424600000-${at}`, event }));
  // eslint-disable-next-line @typescript-eslint/require-await -- as the events of the log, which are awaited
  const read = async function* () {
    yield* events;
  };
  return sums.summary({ workspace: 'acme', events: read });
}

function chat(receiver: Receiver, options: Partial<MessageOptions> = {}): Subscription {
  return message({ name: 'chat', url: receiver.url, allowHosts: ['127.0.0.1'], mention: true, ...options });
}

async function bodyOf(event: ChangeEvent, options: Partial<MessageOptions>): Promise<Record<string, unknown>> {
  const receiver = await startReceiver();
  const subscription = chat(receiver, options);
  await subscription.handle(event, handlerContext({ people }));
  await subscription.close?.();
  return JSON.parse(receiver.received[0]?.body ?? '') as Record<string, unknown>;
}

/** A name may look like marks of the chat. */
const STRANGER = '박 ∗담당∗ @\u200bhere';

describe('mention', () => {
  it('mention: Slack, Discord and Google Chat notify the person in charge, and nobody whom a record names', async () => {
    const event = owned('a', KIM, '<@U0EVIL> <users/all> @everyone');
    expect(await bodyOf(event, { service: 'slack' })).toMatchObject({
      text: '<@U012AB3CD> *&lt;@\u200bU0EVIL&gt; &lt;users/all&gt; @\u200beveryone* – person updated\nin charge: 김담당',
    });
    expect(await bodyOf(event, { service: 'discord' })).toMatchObject({
      content: expect.stringMatching(/^<@80351110224678912> \*\*<\u200b@\u200bU0EVIL> /) as unknown,
      allowed_mentions: { parse: [], users: ['80351110224678912'] },
    });
    expect(await bodyOf(event, { service: 'google-chat' })).toMatchObject({
      text: expect.stringMatching(
        /^<users\/107946847022116401880> \*<\u200b@\u200bU0EVIL> <\u200busers\/all>/,
      ) as unknown,
    });
  });

  it('mention: Teams gets an entity with the same text as in the card, whatever the name', async () => {
    const body = await bodyOf(owned('a', { id: 'u2', name: '<at>이</at> 담당' }, '<at>이</at> 담당'), {
      service: 'teams',
    });
    const [{ content }] = body['attachments'] as [{ content: Record<string, unknown> }];
    const text = '<at><\u200bat>이<\u200b/at> 담당</at>';
    expect(content['msteams']).toEqual({
      entities: [
        { type: 'mention', text, mentioned: { id: 'lee@acme.example', name: '<\u200bat>이<\u200b/at> 담당' } },
      ],
    });
    const [line] = content['body'] as [{ text: string }];
    expect(line.text).toBe(`${text} **<\u200bat>이<\u200b/at> 담당** – person updated`);
  });

  it.each([
    [
      'nobody in people',
      { id: 'u9', name: '박 *담당*\n@here' },
      `${STRANGER} *고객 a* – person updated\nin charge: ${STRANGER}`,
    ],
    ['an id alone', { id: 'u9' }, '*고객 a* – person updated'],
    ['nobody', null, '*고객 a* – person updated'],
    ['an id that is in people', { id: 'u2' }, '<@U0LEE> *고객 a* – person updated'],
  ])('mention: in charge is %s', async (_, owner, text) => {
    expect(await bodyOf(owned('a', owner as typeof KIM | null), {})).toMatchObject({ text });
  });

  it('mention: is off unless asked for, and JANDI names the person', async () => {
    expect(await bodyOf(owned('a', KIM), { mention: false })).toMatchObject({
      text: '*고객 a* – person updated\nin charge: 김담당',
    });
    expect(await bodyOf(owned('a', KIM), { service: 'jandi' })).toMatchObject({
      body: '김담당 고객 a – person updated',
    });
  });

  it('mention: a digest mentions who is in charge, once each, and stays as short as the service wants', async () => {
    const receiver = await startReceiver();
    const subscription = chat(receiver, { service: 'discord' });
    const events = ['a', 'b', 'c'].map((record) => owned(record, KIM, '가'.repeat(900)));
    await subscription.handleDigest?.(
      digestOf([...events, owned('d', { id: 'u9', name: '박담당' })]),
      handlerContext({ people }),
    );
    const long = {
      ...owned('a', KIM),
      data: { ...owned('a', KIM).data, after: { id: 'a', 메모: '가'.repeat(5_000), 담당자: KIM } },
    };
    const template = chat(receiver, {
      service: 'discord',
      template: '{{after.메모}}{{after.메모}}{{after.메모}}{{after.메모}}{{after.메모}}',
    });
    await template.handle(long, handlerContext({ people, test: true }));
    await Promise.all([subscription.close?.(), template.close?.()]);
    const [digest, single] = receiver.received.map(
      ({ body }) => JSON.parse(body) as { content: string; allowed_mentions: object },
    );
    expect(digest?.content).toMatch(/^<@80351110224678912> 박담당 \*\*4 changes in acme/);
    expect(digest?.allowed_mentions).toEqual({ parse: [], users: ['80351110224678912'] });
    expect(single?.content).toMatch(/^\[Test\] <@80351110224678912> 가/);
    expect(single?.content.length).toBeLessThanOrEqual(SERVICES.discord.longest);
  });
});

describe('KakaoWork', () => {
  const kakaowork = { service: 'kakaowork', appKey: APP_KEY, mention: false } as const;
  const accepted = { status: 200, body: '{"message":{"id":"1","text":"\\"success\\":false"},"success":true}' };

  it('KakaoWork: a bot writes to a conversation, with its app key', async () => {
    const receiver = await startReceiver(() => accepted);
    const subscription = chat(receiver, { ...kakaowork, url: `${receiver.url}/v1`, conversation: '123' });
    await expect(subscription.handle(owned('a', KIM), handlerContext({ people }))).resolves.toEqual({ status: 200 });
    await subscription.close?.();
    const [one] = receiver.received;
    expect([one?.method, one?.path]).toEqual(['POST', '/v1/messages.send']);
    expect(one?.headers).toMatchObject({ authorization: `Bearer ${APP_KEY}`, 'content-type': /^application\/json/ });
    expect(JSON.parse(one?.body ?? '')).toEqual({
      conversation_id: '123',
      text: '고객 a – person updated\nin charge: 김담당',
    });
  });

  it.each([
    ['invalid_authentication', 401, /answered 401: the app key is not accepted/],
    ['conversation_not_found', 400, /answered 400\./],
    ['too_many_requests', 429, /answered 429\./],
    ['internal', 502, /answered 502\./],
  ])('KakaoWork: %s with status 200 is a refusal, and the app key is not repeated', async (code, status, message_) => {
    const body = `{"error":{"code":"${code}","message":"key ${APP_KEY}"},"success":false}`;
    const receiver = await startReceiver(() => ({ status: 200, body }));
    const subscription = chat(receiver, { ...kakaowork, conversation: '123' });
    const failed = await failureOf(Promise.resolve(subscription.handle(owned('a', KIM), handlerContext())));
    await subscription.close?.();
    expect(failed).not.toBeInstanceOf(PermanentError);
    expect(failed.message).toMatch(message_);
    expect(failed.facts['status']).toBe(status);
    expect(failed.said).toContain(code);
    expect(failed.said).not.toContain(APP_KEY);
  });

  it('KakaoWork: to the person in charge by the e-mail address of the account, each person one digest', async () => {
    const receiver = await startReceiver(() => accepted);
    const subscription = chat(receiver, { ...kakaowork, to: 'person-in-charge' });
    const context = handlerContext({ people });
    const events = [owned('a', KIM), owned('b', { id: 'u2', name: '이담당' }), owned('c', KIM), owned('d', null)];
    await expect(subscription.handleDigest?.(digestOf(events), context)).resolves.toEqual({
      status: 200,
      words: '1 event without an address of the person in charge',
    });
    expect(await subscription.handle(owned('d', null), context)).toEqual({ skipped: 'no-address' });
    await subscription.close?.();
    const bodies = receiver.received.map(
      ({ path, body }) => [path, JSON.parse(body)] as [string, { email: string; text: string }],
    );
    expect(bodies.map(([path, { email, text }]) => [path, email, text.split('\n')[0]])).toEqual([
      ['/messages.send_by_email', 'kim@acme.example', '2 changes in acme: 2 person updates'],
      ['/messages.send_by_email', 'lee@kakao.example', '고객 b – person updated'],
    ]);
  });

  it.each<[Partial<MessageOptions>, RegExp]>([
    [{ service: 'kakaowork' }, /appKey of message "chat".*the app key of the bot/],
    [{ service: 'kakaowork', appKey: APP_KEY }, /conversation of message "chat".*one of conversation .* and to/],
    [{ service: 'slack', to: 'person-in-charge' }, /to of message "chat".*only with service: 'kakaowork'/],
    [{ ...kakaowork, conversation: '1', otherwise: 'a@b.example' }, /otherwise of message "chat".*only with to/],
  ])('KakaoWork: refuses %j', (options, problem) => {
    const build = () => message({ name: 'chat', url: 'https://api.kakaowork.com/v1', ...options });
    expect(build).toThrow(problem);
    expect(build).not.toThrow(APP_KEY);
  });
});
