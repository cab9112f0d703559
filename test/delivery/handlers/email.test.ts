import { describe, expect, it } from 'vitest';
import { PermanentError } from '../../../src/delivery/handlers/errors.js';
import { email, emailSchema, openEmail, type EmailOptions } from '../../../src/delivery/handlers/email/email.js';
import type { Subscription } from '../../../src/delivery/handlers/handler.js';
import { parseOptions } from '../../../src/delivery/handlers/kind.js';
import { DigestSums } from '../../../src/delivery/handlers/summary.js';
import { recordFailure } from '../../../src/delivery/failure.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { changeEvent } from '../../support/events.js';
import { failureOf, handlerContext, resolving, sampleEvent } from '../../support/handler-fixtures.js';
import { selfSigned } from '../../support/self-signed.js';
import { refusal, startSmtp, tlsOf, type SmtpServer } from '../../support/smtp.js';

const SECRET = 's3cret-pass word';
const BASE = { name: 'team', sender: 'CRM 알림 <crm@acme.example>', to: 'sales@acme.example' };

function mailer({ port }: { port: number }, options: Partial<EmailOptions> = {}): Subscription {
  return email({ ...BASE, server: `smtp://127.0.0.1:${port}`, allowHosts: ['127.0.0.1'], ...options });
}

/** Through a name, which is not this machine's. */
function mailerAt(url: string, options: Partial<EmailOptions> = {}): Subscription {
  const given = { ...BASE, server: url, allowHosts: ['127.0.0.0/8'], ...options };
  const settings = parseOptions(emailSchema, given, 'email');
  return email.subscription(settings, openEmail(settings, { resolve: resolving(['127.0.0.1']) }));
}

function owned(record: string, owner: { id: string; name: string } | null, sequence = 1): ChangeEvent {
  const event = changeEvent({ record, sequence });
  const after = { id: record, 이름: `고객 ${record}`, ...(owner !== null && { 담당자: owner }) };
  return { ...event, data: { ...event.data, after } };
}

function digestOf(events: readonly ChangeEvent[]) {
  const sums = new DigestSums();
  events.forEach((event, at) => sums.add({ logId: `1772424600000-${at}`, event }));
  return sums.summary({
    workspace: 'acme',
    // eslint-disable-next-line @typescript-eslint/require-await -- as the events of the log, which are awaited
    events: async function* () {
      yield* events;
    },
  });
}

const [KIM, LEE, PARK] = ['김담당', '이담당', '박담당'].map((name, at) => ({ id: `u${at}`, name }));

describe('email', () => {
  it('email: is plain text and HTML, escaped, with the title as subject, in the thread of its record', async () => {
    const smtp = await startSmtp();
    const subscription = mailer(smtp, { language: 'ko' });
    const title = '<b>가상인</b> & "x"\r\nBcc: all@evil.example';
    const event = sampleEvent();
    const link = 'https://crm.example/p/1?a=1&b=2';
    const one = { ...event, data: { ...event.data, after: { id: event.subject, 이름: title, '딜 개수': 2 }, link } };
    const context = handlerContext({ language: 'ko', subscription: 'team' });
    await expect(subscription.handle(one, context)).resolves.toEqual({ status: 250 });
    await subscription.handle(one, { ...context, attempt: 2 });
    await subscription.handle({ ...one, id: 'evt_other' }, context);
    await subscription.close?.();
    const [mail, again, other] = smtp.mails;
    expect(mail?.envelope).toEqual({ from: 'crm@acme.example', to: ['sales@acme.example'] });
    expect(mail?.subject).toBe('<b>가상인</b> & "x" Bcc: all@evil.example – 고객 수정');
    expect(Object.keys(mail?.headers ?? {})).not.toContain('bcc');
    expect(mail?.headers).toMatchObject({ to: 'sales@acme.example', 'auto-submitted': 'auto-generated' });
    expect(mail?.text).toBe(`<b>가상인</b> & "x" Bcc: all@evil.example – 고객 수정\n• 딜 개수: 1 → 2\n열기: ${link}\n`);
    expect(mail?.html).toContain(
      [
        '<strong>&lt;b&gt;가상인&lt;/b&gt; &amp; &quot;x&quot; Bcc: all@evil.example</strong> – 고객 수정<br>',
        '• 딜 개수: 1 → 2<br>',
        '<a href="https://crm.example/p/1?a=1&amp;b=2">열기</a></p>',
      ].join('\n'),
    );
    const idsOf = ({ headers }: { headers: Record<string, string> }) =>
      ['message-id', 'references', 'in-reply-to'].map((name) => headers[name]);
    expect(mail?.headers['message-id']).toMatch(/^<[0-9a-f]{32}@acme\.example>$/);
    expect(idsOf(again!)).toEqual(idsOf(mail!));
    expect(other?.headers['message-id']).not.toBe(mail?.headers['message-id']);
    expect(idsOf(other!).slice(1)).toEqual([mail?.headers['references'], mail?.headers['references']]);
  });

  it('email: by default one digest in the morning; digest: false sends each event', () => {
    const at = { when: { at: '09:00' }, days: [1, 2, 3, 4, 5, 6, 7], quiet: undefined };
    expect(mailer({ port: 25 }).digest).toEqual(at);
    expect(mailer({ port: 25 }, { digest: false }).digest).toBeUndefined();
    expect(mailer({ port: 25 }, { digest: { every: '1h' } }).digest?.when).toEqual({ everyMs: 3_600_000 });
  });

  it('email: a digest has its title as subject, and no thread', async () => {
    const smtp = await startSmtp();
    const subscription = mailer(smtp);
    const digest = digestOf([owned('a', KIM!), owned('b', LEE!)]);
    await expect(subscription.handleDigest?.(digest, handlerContext())).resolves.toEqual({ status: 250 });
    await subscription.close?.();
    const [mail] = smtp.mails;
    expect(mail?.subject).toBe('2 changes in acme: 2 person updates');
    expect(mail?.text).toContain('• 고객 a – person updated');
    expect(mail?.html).toContain('<strong>2 changes in acme: 2 person updates</strong><br>');
    expect(mail?.headers['references']).toBeUndefined();
  });

  it('email: a template is text, also where it looks like HTML', async () => {
    const smtp = await startSmtp();
    const subscription = mailer(smtp, { template: '1 < 2: {{after.이름}}' });
    await subscription.handle(sampleEvent(), handlerContext({ test: true }));
    await subscription.close?.();
    expect(smtp.mails[0]?.text).toBe('[Test] 1 < 2: 가상인 "둘" 100%\n');
    expect(smtp.mails[0]?.html).toContain('<p>[Test] 1 &lt; 2: 가상인 &quot;둘&quot; 100%</p>');
    expect(smtp.mails[0]?.subject).toMatch(/^\[Test\] 가상인/);
  });

  it('email: 4xx is tried again, 5xx of a recipient is a dead letter with the words of the server', async () => {
    const smtp = await startSmtp({
      onRcptTo({ address }, _, callback) {
        callback(address.startsWith('later') ? refusal(450, 'try later') : refusal(550, `no mailbox ${address}`));
      },
    });
    const later = mailer(smtp, { to: 'later@acme.example' });
    const retried = await failureOf(Promise.resolve(later.handle(sampleEvent(), handlerContext())));
    expect(retried).toBeInstanceOf(ChangefeedError);
    expect(retried.message).toBe(`Mail "team": 127.0.0.1:${smtp.port} answered 450 to the recipient.`);
    const wanted = await startSmtp({ onMailFrom: (_, __, callback) => callback(refusal(530, 'log in first')) });
    const anonymous = mailer(wanted);
    const login = await failureOf(Promise.resolve(anonymous.handle(sampleEvent(), handlerContext())));
    await anonymous.close?.();
    expect(login).not.toBeInstanceOf(PermanentError);
    expect(login.message).toMatch(/answered 530 to the sender\.$/);
    const gone = mailer(smtp, { to: 'gone@acme.example' });
    const dead = await failureOf(Promise.resolve(gone.handle(sampleEvent(), handlerContext())));
    expect(dead).toBeInstanceOf(PermanentError);
    expect(recordFailure(dead, { attempt: 1, nowMs: 0 })).toMatchObject({
      status: 550,
      message: `Mail "team": 127.0.0.1:${smtp.port} answered 550 to the recipient. It said: 550 no mailbox gone@acme.example`,
    });
    await Promise.all([later.close?.(), gone.close?.()]);
    expect(smtp.mails).toEqual([]);
  });

  it('email: of several recipients, those that were accepted get no second mail', async () => {
    let isAway = true;
    const smtp = await startSmtp({
      onRcptTo({ address }, _, callback) {
        callback(address.startsWith('b') && isAway ? refusal(451, 'later') : null);
      },
    });
    const subscription = mailer(smtp, { to: ['a@acme.example', 'b@acme.example'] });
    const done = new Set<string>();
    const once = async (key: string, effect: () => unknown) => {
      if (done.has(key)) return 'before' as const;
      await effect();
      done.add(key);
      return 'ran' as const;
    };
    const context = handlerContext({ once });
    await expect(subscription.handle(sampleEvent(), context)).rejects.toThrow('answered 451');
    isAway = false;
    await subscription.handle(sampleEvent(), context);
    await subscription.close?.();
    expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([['a@acme.example'], ['b@acme.example']]);
    expect(smtp.mails[0]?.headers['to']).toBe('a@acme.example, b@acme.example');
    expect(smtp.mails[0]?.headers['message-id']).toBe(smtp.mails[1]?.headers['message-id']);
    const replayed = mailer(smtp, { to: ['a@acme.example', 'b@acme.example'] });
    await replayed.handle(sampleEvent(), { ...context, replay: true });
    await replayed.close?.();
    expect(smtp.mails).toHaveLength(4);
  });

  it('email: logs in over STARTTLS only, and says what is wrong with a login without the password', async () => {
    const tls = tlsOf(selfSigned());
    const onAuth: Parameters<typeof startSmtp>[0] = {
      authOptional: false,
      onAuth: ({ username, password }, _, callback) =>
        username === 'crm' && password === SECRET
          ? callback(null, { user: 'crm' })
          : callback(refusal(535, `no ${password}`)),
    };
    const inClear = await startSmtp({ ...onAuth, allowInsecureAuth: true });
    const encoded = encodeURIComponent(SECRET);
    const refused = mailerAt(`smtp://crm:${encoded}@mail.test:${inClear.port}`);
    const failed = await failureOf(Promise.resolve(refused.handle(sampleEvent(), handlerContext())));
    expect(failed).not.toBeInstanceOf(PermanentError);
    expect(failed.message).toMatch(/mail\.test:\d+ offers no encryption that could be used \(STARTTLS\)/);
    const named = mailerAt(`smtp://crm:${encoded}@mail.test:${inClear.port}`, { allowHosts: ['mail.test'] });
    await expect(named.handle(sampleEvent(), handlerContext())).resolves.toEqual({ status: 250 });
    const wrong = mailerAt(`smtp://crm:wrong-pass@mail.test:${inClear.port}`, { allowHosts: ['mail.test'] });
    const login = await failureOf(Promise.resolve(wrong.handle(sampleEvent(), handlerContext())));
    expect(login).not.toBeInstanceOf(PermanentError);
    expect(login.message).toMatch(/does not accept the user and the password of server \(535\)\.$/);
    expect(login.said).toBe('535 no [hidden]');
    expect(await wrong.reach?.()).toMatchObject({ problem: login.message });
    expect(await named.reach?.()).toEqual({ place: `mail.test:${inClear.port}`, problem: null });
    const selfMade = await startSmtp({ ...onAuth, ...tls, disabledCommands: [] });
    const untrusted = mailerAt(`smtp://crm:${encoded}@mail.test:${selfMade.port}`);
    const certificate = await failureOf(Promise.resolve(untrusted.handle(sampleEvent(), handlerContext())));
    expect(certificate.message).toMatch(
      /could not be reached \(\w*CERT\w*: its certificate is not accepted; .*NODE_EXTRA_CA_CERTS/,
    );
    for (const one of [refused, named, wrong, untrusted]) await one.close?.();
    expect([inClear.mails.length, selfMade.mails.length]).toEqual([1, 0]);
  });

  it('email: smtps begins with TLS, and says so where the server does not, or has a certificate that nobody issued', async () => {
    const selfMade = await startSmtp({ secure: true, ...tlsOf(selfSigned()) });
    const plain = await startSmtp();
    const failures = await Promise.all(
      [selfMade, plain].map(async ({ port }) => {
        const subscription = mailerAt(`smtps://mail.test:${port}`);
        const failed = await failureOf(Promise.resolve(subscription.handle(sampleEvent(), handlerContext())));
        await subscription.close?.();
        return failed.message;
      }),
    );
    expect(failures).toEqual([
      expect.stringMatching(/could not be reached \(\w*CERT\w*: its certificate is not accepted/),
      expect.stringMatching(/ERR_SSL_\w+: what answers there begins without TLS; write smtp:\/\/ in place of smtps:/),
    ]);
    expect([selfMade.mails, plain.mails]).toEqual([[], []]);
  });

  it('email: what a crash leaves unknown is sent again, with the same Message-ID', async () => {
    const smtp = await startSmtp();
    const subscription = mailer(smtp, { to: ['a@acme.example', 'b@acme.example'] });
    const once = async (key: string, effect: () => unknown) => {
      if (!key.startsWith('sent again')) return 'unknown' as const;
      await effect();
      return 'ran' as const;
    };
    await subscription.handle(sampleEvent(), handlerContext({ once }));
    await subscription.close?.();
    expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['a@acme.example', 'b@acme.example']);
    expect(new Set(smtp.mails.map(({ headers }) => headers['message-id'])).size).toBe(1);
  });

  it('email: reaches only what webhooks may reach, and a closed port is tried again', async () => {
    const smtp = await startSmtp();
    const guarded = email({ ...BASE, server: `smtp://127.0.0.1:${smtp.port}` });
    const refused = await failureOf(Promise.resolve(guarded.handle(sampleEvent(), handlerContext())));
    expect(refused).toMatchObject({ code: 'CF_ADDRESS_REFUSED' });
    expect(refused.message).toMatch(/127\.0\.0\.1 is in the range "loopback": nothing was sent/);
    const byName = mailerAt(`smtp://mail.test:${smtp.port}`, { allowHosts: [] });
    await expect(byName.handle(sampleEvent(), handlerContext())).rejects.toThrow(/mail\.test resolves to 127\.0\.0\.1/);
    const closed = mailer({ port: 1 });
    const away = await failureOf(Promise.resolve(closed.handle(sampleEvent(), handlerContext())));
    expect(away).not.toBeInstanceOf(PermanentError);
    expect(away.message).toBe('Mail "team": 127.0.0.1:1 could not be reached (ECONNREFUSED).');
    for (const one of [guarded, byName, closed]) await one.close?.();
    expect(smtp.connections()).toBe(0);
  });

  it.each<[Partial<EmailOptions>, RegExp]>([
    [{ server: 'https://mail.example' }, /server of email .*allowed: the address of an SMTP server/],
    [
      { server: `smtp://crm:${encodeURIComponent(SECRET)}@` },
      /server of email .*allowed: the address of an SMTP server/,
    ],
    [{ sender: 'CRM\nBcc: x <a@b.example>' }, /sender of email .*allowed: an e-mail address/],
    [{ to: 'a@b.example, c@d.example' }, /to of email .*'person-in-charge'/],
    [{ otherwise: 'a@b.example' }, /otherwise of email .*only with to: 'person-in-charge'/],
  ])('email: refuses %j', (options, message) => {
    expect(() => mailer({ port: 25 }, options)).toThrow(message);
    expect(() => mailer({ port: 25 }, options)).not.toThrow(/s3cret/);
  });
});

describe('email to the person in charge', () => {
  const people = { 김담당: { email: 'kim@acme.example' }, u1: { email: 'lee@acme.example' } };
  const toOwners = (smtp: SmtpServer, options: Partial<EmailOptions> = {}) =>
    mailer(smtp, { to: 'person-in-charge', ...options });

  it('email: a digest is one mail per person about their records; who has no address is in the receipt', async () => {
    const smtp = await startSmtp();
    const subscription = toOwners(smtp);
    const digest = digestOf([
      owned('a', KIM!),
      owned('b', LEE!),
      owned('c', KIM!),
      owned('d', PARK!),
      owned('e', null),
    ]);
    await expect(subscription.handleDigest?.(digest, handlerContext({ people }))).resolves.toEqual({
      status: 250,
      words: '2 events without an address of the person in charge',
    });
    await subscription.close?.();
    expect(smtp.mails.map(({ envelope, subject }) => [envelope.to[0], subject])).toEqual([
      ['kim@acme.example', '2 changes in acme: 2 person updates'],
      ['lee@acme.example', '고객 b – person updated'],
    ]);
    expect(smtp.mails[0]?.text).toMatch(/고객 a[^]*고객 c/);
    expect(smtp.mails[0]?.text).not.toContain('고객 b');
  });

  it('email: a person whom the server refuses does not have the others get the digest again', async () => {
    const smtp = await startSmtp({
      onRcptTo: ({ address }, _, callback) => callback(address.startsWith('kim') ? refusal(550, 'gone') : null),
    });
    const subscription = toOwners(smtp);
    const digest = digestOf([owned('a', KIM!), owned('b', LEE!)]);
    await expect(subscription.handleDigest?.(digest, handlerContext({ people }))).resolves.toMatchObject({
      words: '1 of 2 recipients refused',
    });
    await subscription.close?.();
    expect(smtp.mails).toHaveLength(1);
  });

  it('email: without an address it goes to `otherwise`, or nowhere, and the receipt says so', async () => {
    const smtp = await startSmtp();
    const subscription = toOwners(smtp, { digest: false });
    await expect(subscription.handle(owned('d', PARK!), handlerContext({ people }))).resolves.toEqual({
      skipped: 'no-address',
    });
    await expect(subscription.handleDigest?.(digestOf([owned('e', null)]), handlerContext())).resolves.toEqual({
      skipped: 'no-address',
    });
    const fallback = toOwners(smtp, { digest: false, otherwise: 'boss@acme.example' });
    await fallback.handle(owned('d', PARK!), handlerContext({ people }));
    await fallback.handle(owned('a', KIM!), handlerContext({ people }));
    await Promise.all([subscription.close?.(), fallback.close?.()]);
    expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['boss@acme.example', 'kim@acme.example']);
  });
});
