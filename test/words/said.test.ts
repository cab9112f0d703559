/** What a person meets when something is wrong is in the language of the page. */
import { describe, expect, it } from 'vitest';
import { texts } from '../../page/texts.js';
import { KINDS } from '../../src/delivery/handlers/registry.js';
import { partsOf } from '../../src/delivery/handlers/errors.js';
import { message } from '../../src/delivery/handlers/message/message.js';
import { readTemplate, renderTemplate } from '../../src/delivery/handlers/message/template.js';
import { ACTOR_TYPES, NOTICE_KINDS } from '../../src/events/kinds.js';
import { ERROR_CODES } from '../../src/kit/errors.js';
import { problemText } from '../../src/words/problems.js';
import { formatsFor } from '../../src/words/format.js';
import { said } from '../../src/words/said.js';
import { textOf } from '../../src/words/words.js';
import { chatReader, failureOf, handlerContext, sampleEvent, useReceivers } from '../support/handler-fixtures.js';

const startReceiver = useReceivers();
const korean = (key: string): string | undefined =>
  Object.hasOwn(texts, key) ? texts[key as keyof typeof texts][1] : textOf('ko', key);

async function refusal(url: string): Promise<string> {
  const chat = message({ name: 'chat', url, allowHosts: ['127.0.0.1'] });
  const error = await failureOf(Promise.resolve(chat.handle(sampleEvent(), handlerContext())));
  await chat.close?.();
  return partsOf(error).whole;
}

describe('said in Korean:', () => {
  it.each([301, 404, 410, 413, 429, 500])('what a chat answers with %i', async (status) => {
    const headers: Record<string, string> = status === 429 ? { 'retry-after': '30' } : {};
    const receiver = await startReceiver(() => ({ status, headers, body: '' }));
    const text = said(await refusal(receiver.url), 'ko').replaceAll(
      /Message "chat": [\d.:]+|\(transform, fields\)|30 s/g,
      '',
    );
    expect(text).toMatch(/[가-힣]/);
    expect(text).not.toMatch(/[A-Za-z]/);
  });

  it('that a chat cannot be reached, and what it said, which stays as it is', async () => {
    const receiver = await startReceiver(() => ({ status: 400, body: 'no answered 500. here' }));
    expect(said(await refusal(receiver.url), 'ko')).toMatch(
      /400\(으\)로 답했습니다\. 받은 답: no answered 500\. here$/,
    );
    expect(said(await refusal('http://127.0.0.1:9'), 'ko')).toBe(
      'Message "chat": 127.0.0.1:9에 연결할 수 없습니다(ECONNREFUSED).',
    );
    expect(said('a text of a function that answered', 'ko')).toBe('a text of a function that answered');
  });

  it.each([
    ['paused on the status page: deploy.', '상태 페이지에서 일시 중지: deploy.'],
    ['paused on the status page.', '상태 페이지에서 일시 중지했습니다.'],
    ['found null; allowed: a number or a text', 'null은(는) 쓸 수 없습니다. 쓸 수 있는 것: 숫자나 텍스트'],
  ])('%s', (english, text) => {
    expect([said(english, 'ko'), said(english, 'en')]).toEqual([text, english]);
  });

  it('a problem on the page names no command where a button stands beside it', () => {
    const facts = { workspace: 'acme', list: 'people', held: 'held.removals.too many', count: 3, of: 4, name: 'ops' };
    const formats = formatsFor({ language: 'ko', now: '2026-03-01T00:00:00Z' });
    for (const kind of [
      'removals.held',
      'creations.held',
      'subscription.disabled',
      'delivery.dead',
      'subscription.unconfigured',
    ]) {
      const problem = { kind, message: '', facts };
      expect(problemText(problem, formats, { hasButtons: true })).toMatch(/^[^{}]*[가-힣][^{}]*$/);
      expect(problemText(problem, formats, { hasButtons: true })).not.toContain('changefeed ');
    }
  });

  it('who made a change that follows from another one, in a message', () => {
    const event = sampleEvent();
    const actor = { type: 'field', id: null, name: null, confidence: 'exact' } as const;
    const read = readTemplate('{{actor}}');
    const template = read.outcome === 'read' ? read.template : [];
    const text = renderTemplate(template, { ...event, data: { ...event.data, actor } }, chatReader('slack', 'ko'));
    expect(text).toBe('시스템');
  });

  it('every problem, actor, kind of handler, and code or reason of a receipt', () => {
    const skipped = ['where', 'muted', 'cancelled-out', 'not-selected', 'merged', 'gone', 'dropped'];
    const keys = [
      ...NOTICE_KINDS.flatMap((kind) => [`problem.${kind}`]),
      ...ACTOR_TYPES.map((type) => `actor.${type}`),
      ...skipped.map((reason) => `reason.${reason}`),
      ...Object.keys(ERROR_CODES)
        .filter((code) => DELIVERIES.test(code))
        .map((code) => `reason.${code}`),
    ];
    expect(keys.filter((key) => !/[가-힣]/.test(korean(key) ?? '') && !NAMES.includes(korean(key) ?? ''))).toEqual([]);
    const called = KINDS.map(({ words }) => words.ko).filter((name) => !NAMES.includes(name));
    expect(called.filter((name) => !/[가-힣]/.test(name))).toEqual([]);
  });
});

/** The codes with which a delivery fails. */
const DELIVERIES = /HANDLER_(TIMEOUT|FAILED)|DELIVERY|DATABASE|WRITE|ADDRESS|STATE_UNREADABLE|REDIS_UNREACHABLE/;
const NAMES = ['PostgreSQL', 'BullMQ'];
