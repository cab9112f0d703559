import { expect, it } from 'vitest';
import { email } from '../../../src/delivery/handlers/email/email.js';
import { message } from '../../../src/delivery/handlers/message/message.js';
import { reportOptions, reporting, textOfReport } from '../../../src/delivery/handlers/report.js';
import { webhook } from '../../../src/delivery/handlers/webhook/webhook.js';
import { formatsFor } from '../../../src/words/format.js';
import { handlerContext, useReceivers } from '../../support/handler-fixtures.js';
import { startSmtp } from '../../support/smtp.js';

const startReceiver = useReceivers();
const changes = {
  workspace: 'acme',
  timeZone: 'Asia/Seoul',
  logFrom: null,
  days: [
    { date: '2026-11-23', types: {} },
    { date: '2026-11-29', types: {} },
  ],
  types: [
    { type: 'crm.person.updated', count: 1_200, before: 3 },
    { type: 'crm.todo.completed', count: 4, before: 0 },
    { type: 'crm.person.created', count: 2, before: 1 },
  ],
  owners: [
    { id: 'u1', name: '김영업', count: 3, before: 0 },
    { id: '', name: '', count: 1, before: 0 },
  ],
  fields: [{ object: 'person', field: '등급', count: 3, before: 9 }],
};
const outcome = { at: '2026-11-30T00:00:00.000Z', changes };
const monday = reportOptions.parse({ what: 'changes', at: '09:00', days: ['mon'] });

it('report: the changes of days in numbers, compared, and what is told beside an edit counted apart', () => {
  const formats = formatsFor({ language: 'ko', timeZone: 'Asia/Seoul', now: outcome.at });
  expect(textOfReport(outcome, { workspace: 'acme', per: 'person', formats })).toEqual({
    title: 'acme 2026-11-23 – 2026-11-29: 변경 1,202건 (그 전 4건)',
    lines: [
      '• 종류별: 고객 수정 1,200, 고객 생성 2, TODO 완료 4',
      '• 담당자별: 김영업 3, 담당자 없음 1',
      '• 필드별: 등급 3',
    ],
  });
});

it('report: by mail and in a chat, in the words of its readers; a webhook says none', async () => {
  const smtp = await startSmtp();
  const given = { server: `smtp://127.0.0.1:${smtp.port}`, allowHosts: ['127.0.0.1'] };
  const mail = reporting(
    email({ name: 'team', sender: 'crm@acme.example', to: ['a@acme.example', 'b@acme.example'], ...given }),
    monday,
  );
  const context = handlerContext({ language: 'ko', subscription: 'team' });
  expect(mail?.on).toEqual([]);
  expect(mail?.digest).toBeUndefined();
  expect(await mail?.report?.handle(outcome, context)).toEqual({ status: 250 });
  await mail?.close?.();
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([['a@acme.example'], ['b@acme.example']]);
  expect(smtp.mails[0]?.subject).toBe('acme 2026-11-23 – 2026-11-29: 변경 1,202건 (그 전 4건)');
  expect(smtp.mails[0]?.text).toContain('• 담당자별: 김영업 3');
  const receiver = await startReceiver();
  const chat = reporting(
    message({ name: 'chat', service: 'slack', url: receiver.url, allowHosts: ['127.0.0.1'] }),
    monday,
  );
  await chat?.report?.handle(outcome, context);
  await chat?.close?.();
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
    text: expect.stringContaining('*acme 2026-11-23') as string,
  });
  const hook = webhook({ name: 'hook', url: 'https://hook.example', secret: `whsec_${'a'.repeat(44)}` });
  expect(reporting(hook, monday)).toBeNull();
});

it('report: for the person in charge of a record there is none, so it goes to the other address', async () => {
  const smtp = await startSmtp();
  const given = { server: `smtp://127.0.0.1:${smtp.port}`, allowHosts: ['127.0.0.1'], sender: 'crm@acme.example' };
  const told = async (otherwise?: string) => {
    const mail = email({
      name: 'team',
      to: 'person-in-charge',
      ...given,
      ...(otherwise !== undefined && { otherwise }),
    });
    const handled = await reporting(mail, monday)?.report?.handle(outcome, handlerContext());
    await mail.close?.();
    return handled;
  };
  expect(await told()).toEqual({ skipped: 'no-address' });
  expect(await told('lead@acme.example')).toEqual({ status: 250 });
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([['lead@acme.example']]);
});
