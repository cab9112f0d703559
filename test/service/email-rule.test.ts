/** Rules and digests that become mails: from the log in Redis to a server of SMTP, and to the receipt. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { email } from '../../src/delivery/handlers/email/email.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { NO_SURROUNDINGS } from '../support/fan-out.js';
import { testFolder } from '../support/folder.js';
import { startPageFeed } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';
import { runFanOut } from '../support/running-fan-out.js';
import { bringForward } from '../support/scheduled.js';
import { refusal, startSmtp } from '../support/smtp.js';

const redis = useRedis();
const people = {
  김담당: { email: 'kim@acme.example' },
  이담당: { email: 'gone@acme.example' },
  최담당: { email: 'choi@acme.example' },
};

function owned(record: string, name: string): ChangeEvent {
  const event = changeEvent({ record, sequence: 1 });
  return {
    ...event,
    data: { ...event.data, after: { id: record, 이름: `고객 ${record}`, 담당자: { id: `id of ${name}`, name } } },
  };
}

const startServer = () =>
  startSmtp({
    onRcptTo: ({ address }, _, callback) =>
      callback(address === 'gone@acme.example' ? refusal(550, '5.1.1 no such mailbox') : null),
  });

function mailbox(port: number) {
  const server = `smtp://127.0.0.1:${port}`;
  return {
    server,
    allowHosts: ['127.0.0.1'],
    sender: 'CRM <crm@acme.example>',
    to: 'person-in-charge' as const,
    rate: { requests: 10_000 },
  };
}

describe('a rule that sends mails', () => {
  it('rules: a mail reaches the person in charge; a refusal is a dead letter, and without an address the receipt says why', async () => {
    const smtp = await startServer();
    const file = join(testFolder(), 'changefeed.rules.json');
    const destinations = {
      mail: { handler: 'email' as const, ...mailbox(smtp.port) },
      chat: { handler: 'message' as const, url: 'https://chat.example/secret', mention: true },
    };
    const { feed, get, act } = await startPageFeed(redis, { destinations, rules: file, people });
    const { revision, destinations: shown } = await get<{ revision: string; destinations: object[] }>('/api/rules');
    expect(shown).toEqual([
      { name: 'mail', handler: 'email', place: `127.0.0.1:${smtp.port}`, mention: false },
      { name: 'chat', handler: 'message', place: 'chat.example', mention: true },
    ]);
    const rule = { on: ['crm.person.updated'], to: 'mail', digest: false, language: 'ko' };
    const saved = await act('/api/rules/a', { revision, rule });
    expect(await saved.json()).toMatchObject({ outcome: 'saved' });
    const mentioned = await act('/api/rules/b', { revision, rule: { ...rule, mention: true } });
    expect(JSON.stringify(await mentioned.json())).toContain('\\"mail\\" is no chat');
    await appendEvents(redis, [owned('a', '김담당'), owned('b', '이담당'), owned('c', '박담당')]);
    const rows = await eventually(async () => {
      const found = await feed.deliveries({ subscription: 'rule-a' });
      const ended = found.filter(({ outcome }) => outcome !== 'pending');
      expect(ended).toHaveLength(3);
      return Object.fromEntries(ended.map((row) => [row.record, row]));
    });
    expect(rows['a']).toMatchObject({ outcome: 'delivered', status: 250 });
    expect(rows['b']).toMatchObject({ outcome: 'dead', status: 550, words: '550 5.1.1 no such mailbox' });
    expect(rows['c']).toMatchObject({ outcome: 'skipped', reason: 'no-address', attempt: 0 });
    expect(smtp.mails.map(({ envelope, subject }) => [envelope.to[0], subject])).toEqual([
      ['kim@acme.example', '고객 a – 고객 수정'],
    ]);
  });

  it('email: a digest is one mail for each person, once, and its receipt says whom it did not reach', async () => {
    const smtp = await startServer();
    const subscription = email({ name: 's', ...mailbox(smtp.port) });
    const surroundingsOf = () => ({ ...NO_SURROUNDINGS, people });
    const { queues, dispatcher } = await runFanOut(redis, [subscription], { surroundingsOf, logAgeMs: 7 * 86_400_000 });
    const events = [
      owned('a', '김담당'),
      owned('b', '이담당'),
      owned('c', '최담당'),
      owned('d', '김담당'),
      owned('e', '박담당'),
    ];
    await appendEvents(redis, events);
    await eventually(() => bringForward(queues.of('s')));
    await eventually(() => expect(smtp.mails).toHaveLength(2));
    const mails = smtp.mails.map(({ envelope, subject, headers }) => [
      envelope.to[0],
      subject,
      headers['references'] !== undefined,
    ]);
    expect(mails).toEqual([
      ['kim@acme.example', '2 changes in acme: 2 person updates', false],
      ['choi@acme.example', '고객 c – person updated', true],
    ]);
    expect(new Set(smtp.mails.map(({ headers }) => headers['message-id'])).size).toBe(2);
    await eventually(async () => {
      const rows = await dispatcher.deliveries({ subscription: 's', outcome: 'delivered' });
      expect(rows[0]).toMatchObject({
        ...{ outcome: 'delivered', status: 250, digest: { events: 5 } },
        words: '1 event without an address of the person in charge; 1 of 3 recipients refused',
      });
    });
  });
});
