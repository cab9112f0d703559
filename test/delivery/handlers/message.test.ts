import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import { isPermanent, partsOf } from '../../../src/delivery/handlers/errors.js';
import { message, type MessageOptions } from '../../../src/delivery/handlers/message/message.js';
import { readTemplate, renderTemplate, usualMessage } from '../../../src/delivery/handlers/message/template.js';
import { chatReader, failureOf, handlerContext, sampleEvent, useReceivers } from '../../support/handler-fixtures.js';

const startReceiver = useReceivers();

async function deliver(options: Partial<MessageOptions> & { url: string }, event = sampleEvent()): Promise<void> {
  const subscription = message({ name: 'chat', allowHosts: ['127.0.0.1'], ...options });
  try {
    await subscription.handle(event, handlerContext());
  } finally {
    await subscription.close?.();
  }
}

function eventWith(data: Partial<ChangeEvent['data']>, type = 'crm.person.updated'): ChangeEvent {
  const event = sampleEvent();
  return { ...event, type, data: { ...event.data, ...data } };
}

function render(source: string, event = sampleEvent()): string {
  const result = readTemplate(source);
  return result.outcome === 'read'
    ? renderTemplate(result.template, event, chatReader())
    : `refused: ${result.allowed}`;
}

describe('a message', () => {
  it.each(['upcase', 'default: "none"', 'date("%Y")', 'join | first'])(
    'message: the filter %s of other templates is refused, as it would be sent for an empty value',
    (filter) => {
      const refused = 'refused: {{after.이름}}, without a filter: the text after | is the fallback for an empty value';
      expect(render(`{{after.이름 | ${filter}}}`)).toBe(refused);
    },
  );

  it('message: a fallback may begin like a filter', () => {
    expect(render('{{after.없음 | date unknown}}, {{after.없음 | upcased}}')).toBe('date unknown, upcased');
  });

  it('message: includes the configured payload', async () => {
    const receiver = await startReceiver();
    await deliver({
      url: receiver.url,
      template: '{{after.이름}}',
      payload: { channel: '#sales', unfurl_links: true },
    });
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
      channel: '#sales',
      unfurl_links: true,
      unfurl_media: false,
      text: '가상인 "둘" 100%',
    });
  });

  it('message: is never empty', () => {
    const event = eventWith({ after: { id: 'p1' } });
    expect(render('{{after.없음}}', event)).toBe('0198f0aa-1c00-7a10-8f01-00000000a001 – crm.person.updated');
  });

  it('message: the error does not contain the path of the URL, even if the answer repeats it', async () => {
    const receiver = await startReceiver(({ path }) => ({ status: 404, body: `no_service ${path}` }));
    const error = await failureOf(deliver({ url: `${receiver.url}/services/T0AAAA/B0BBBB/sesame` }));
    expect(partsOf(error).whole).toBe(
      `Message "chat": 127.0.0.1:${receiver.port} answered 404: the URL does not accept messages, or no longer does; create a new one and configure it. It said: no_service /[hidden]`,
    );
    expect(isPermanent(error)).toBe(false);
  });
});

describe('a template', () => {
  const after = {
    id: 'p1',
    이름: '<!channel> & <https://evil.example|here>',
    '딜 개수': 0,
    담당자: { id: 'u', name: '담당A' },
    팀: [
      { id: 't1', name: '1팀' },
      { id: 't2', name: '2팀' },
    ],
    '연간.매출': 7,
    메모: 'line one\nline two',
    없음: null,
    맞춤: { a: 1 },
  };
  const event = eventWith({ after, before: { id: 'p1', 이름: '옛' } });

  it.each([
    ['{{after.딜 개수}} {{ after.담당자 }} {{after.담당자.id}}', '0 담당A u'],
    ['{{record.팀}} · {{after.연간.매출}} · {{after.맞춤}}', '1팀, 2팀 · 7 · {"a":1}'],
    ['{{after.메모}}', 'line one\nline two'],
    ['{{before.이름}}', '옛'],
    ['{{after.없음 | _nobody_}}/{{after.gone|none}}', '_nobody_/'],
    ['{{after.이름}}', '&lt;!channel&gt; &amp; &lt;https://evil.example|here&gt;'],
    ['<https://crm.example/{{subject}}|{{id}}>', `<https://crm.example/${event.subject}|${event.id}>`],
    [
      '{{type}} {{object}} {{verb}} {{workspace}} {{list}} {{class}} {{sequence}}',
      'crm.person.updated person updated acme people edited 2',
    ],
    ['a } b { c }} d', 'a } b { c }} d'],
    ['{{after.constructor}}{{after.__proto__.x}}{{after.이름.length}}.', '.'],
  ])('%j says %j', (source, text) => {
    expect(render(source, event)).toBe(text);
  });

  it.each([
    ['a notification', '@channel @everyone, @김부장', '@\u200bchannel @\u200beveryone, @\u200b김부장'],
    ['one within a word', 'a@everyone', 'a@\u200beveryone'],
    ['an e-mail address, which stays', 'kim.lee@example.com', 'kim.lee@example.com'],
    ['a disguised link', '[Reset](http://phish.example)', '[Reset]\u200b(http://phish.example)'],
    ['a link by name', '[Reset][1]\n[1]: http://phish.example', '[Reset]\u200b[1]\n[1]\u200b: http://phish.example'],
    ['an address, which shows where it leads', 'https://a.example/b_c?d=1_2', 'https://a.example/b_c?d=1_2'],
    ['brackets, which stay', '[긴급] 삼성전자(주)', '[긴급] 삼성전자(주)'],
    ['formatting', '*a* _b_ ~c~ `d` snake_case', '∗a∗ ＿b＿ ∼c∼ ˋdˋ snake_case'],
    ['control characters and directions', '\u001b[2Ja\u202eb\u2066c\u0007', '[2Jabc'],
  ])('message template: a value has no effect on the chat: %s', (_what, value, text) => {
    expect(render('{{after.메모}}', eventWith({ after: { id: 'p1', 메모: value } }))).toBe(text);
  });

  it('message template: a line break in the name of a field begins no line', () => {
    const changes = [{ field: '메모\n• 금액: 1 → 2', before: 'a\nb', after: 'c' }];
    expect(render('{{changes}}', eventWith({ changes }))).toBe('• 메모 • 금액: 1 → 2: a b → c');
  });

  it('message template: a field with an id names the object, and the record by its title where it is included', () => {
    const [before, after] = ['01958e58-724c-798a-ad8a-11dab0000000', '0195611f-d1ad-7b60-ac10-3b5c40000000'];
    const changes = [
      { field: 'peopleId', before, after },
      { field: 'dealId', before: null, after: 'd1' },
    ];
    const related = { person: { id: after, title: '오시시' }, organization: null };
    expect(render('{{changes}}', eventWith({ changes, related }))).toBe('• Person: 01958e58… → 오시시\n• Deal: – → d1');
    expect(render('{{changes}}', eventWith({ changes }))).toContain('• Person: 01958e58… → 0195611f…');
  });

  it('message template: uses the last name of a deleted record', () => {
    const gone = eventWith({ before: { id: 't', 제목: '전화하기' }, after: null, changes: [] }, 'crm.todo.deleted');
    expect(usualMessage(gone, chatReader())).toBe('*전화하기* – todo deleted');
  });

  it.each([
    ['its title', { 제목: '전화하기', 내용: '통화 내용' }, '전화하기'],
    ['its content, where it has no title', { 제목: null, 내용: '통화  내용' }, '통화 내용'],
    ['its content, where the API has no field for a title', { 내용: '통화 내용' }, '통화 내용'],
  ])('message template: the title of a todo is %s', (_what, fields, title) => {
    const event = eventWith({ before: null, after: { id: 't', ...fields }, changes: [] }, 'crm.todo.created');
    expect(render('{{title}}', event)).toBe(title);
  });

  it('message template: a long run of spaces in the name of a field does not stop the process', () => {
    const changes = Array.from({ length: 10 }, () => ({ field: `a${' '.repeat(100_000)}b`, before: 1, after: 2 }));
    const startedAt = performance.now();
    render('{{changes}}', eventWith({ changes }));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('message template: limits values, changes and the whole text without cutting a character', () => {
    const changes = Array.from({ length: 12 }, (_, number) => ({
      field: `f${number}`,
      before: 'x'.repeat(300),
      after: 1,
    }));
    const lines = render('{{changes}}', eventWith({ changes })).split('\n');
    expect([lines.length, lines[0]?.length, lines[10]]).toEqual([
      11,
      '• f0: '.length + 100 + ' → 1'.length,
      '… and 2 more',
    ]);
    const long = eventWith({ after: { id: 'p', note: '&'.repeat(5_000) } });
    expect(render('{{after.note}}', long)).toBe(`${'&amp;'.repeat(499)}…`);
    expect(render('{{after.note}} {{after.note}}', long)).toBe(`${'&amp;'.repeat(499)}… ${'&amp;'.repeat(300)}…`);
  });
});
