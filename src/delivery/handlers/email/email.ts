/** `email`: events as mails, by default as one digest in the morning, through an SMTP server. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ListName } from '../../../crm/lists/lists.js';
import { objectOf } from '../../../events/envelope.js';
import { personOf } from '../../../events/person-in-charge.js';
import type { ChangeEvent } from '../../../events/types.js';
import { requireOptionalPackage } from '../../../kit/optional-package.js';
import { duration, listOf, wholeNumber } from '../../../kit/schema/fields.js';
import { secret } from '../../../kit/schema/secret.js';
import { formatsFor } from '../../../words/format.js';
import { wordsFor } from '../../../words/words.js';
import { digestOrNone } from '../digest.js';
import type { DigestContext, DigestSummary, HandleResult, Said } from '../handler.js';
import { ENDPOINT_RETRY, endpointShape } from '../http/endpoint.js';
import { readAllowHosts } from '../http/guard.js';
import { defineKind, kindOptions, type OpenedKind } from '../kind.js';
import { readBackground } from '../message/background.js';
import { digestText, eventsIn } from '../message/digest-text.js';
import { messageOptions } from '../message/message.js';
import type { Service } from '../message/services.js';
import { readTemplate, renderTemplate, usualMessage, type Reader } from '../message/template.js';
import { LONGEST_WAIT } from '../options.js';
import { ADDRESS, addressOr, AN_ADDRESS, mailAddress, type PersonAddresses } from '../people.js';
import {
  addressFor,
  IN_CHARGE,
  inCharge,
  keyOf,
  NOBODY,
  otherwiseShape,
  partsOf,
  sendAll,
  sendParts,
} from '../recipients.js';
import { escapeHtml, HTML_MAIL, htmlDocument, idOf, PLAIN_MAIL, subjectOf } from './mail.js';
import { openMailServer, readServer, type Mail, type MailWorld } from './server.js';
import type { TitledText } from '../titled.js';
import { titledText } from '../message/titled-text.js';

const A_SERVER = 'the address of an SMTP server, such as smtp://user:password@smtp.acme.example:587 or smtps://…';
const A_SENDER = "an e-mail address, such as 'crm@acme.example' or 'CRM <crm@acme.example>'";
const RECIPIENTS = `${AN_ADDRESS}; an array of such addresses, or '${IN_CHARGE}'`;
const MOST_RECIPIENTS = 50;
const RATE = { requests: 1, perSeconds: 1 };

/** Where mail goes, and through which server. */
export const mailShape = {
  /**
   * The SMTP server: `smtp://user:password@host:587` (STARTTLS) or `smtps://user:password@host:465`; special characters of the password
   * percent-encoded. A password is sent over TLS only, unless the host is this machine or `allowHosts` names it.
   */
  server: secret(z.string({ error: A_SERVER }).refine((text) => readServer(text) !== null, { error: A_SERVER })),
  allowHosts: endpointShape.allowHosts,
  /** Upper bound of the deliveries to the server, of all that use it with this user, in all processes; a digest to several people is one. @defaultValue one per second */
  rate: endpointShape.rate,
  disableAfter: endpointShape.disableAfter,
  /** Who sends: `'CRM <crm@acme.example>'`. Bounces that come later arrive there. (`from` is who has made a change.) */
  sender: z.string({ error: A_SENDER }).refine((text) => readSender(text) !== null, { error: A_SENDER }),
  /**
   * Who gets the mails: an address, an array of addresses, or `'person-in-charge'`: the `email` in `people` of who is in charge of the record. Then a
   * digest is one mail for each person, about their records.
   */
  to: z.union(
    [inCharge, addressOr(RECIPIENTS), listOf(mailAddress, 'addresses').refine((all) => all.length <= MOST_RECIPIENTS)],
    {
      error: RECIPIENTS,
    },
  ),
  ...otherwiseShape,
};

const emailOptions = kindOptions({
  ...mailShape,
  /**
   * One mail about all events since the last one: `{ at: '09:00' }` in the workspace's time zone, or `{ every: '1h' }`. `false`: each event is a
   * mail. @defaultValue `{ at: '09:00' }`
   */
  digest: digestOrNone.prefault({ at: '09:00' }),
  /** An attempt that takes longer is aborted and counts as failed; the next one sends the mails that are missing. @defaultValue '5m' */
  timeout: duration({ from: '1ms', to: LONGEST_WAIT }).prefault('5m'),
  /** Number of deliveries one process sends at the same time. @defaultValue 1 */
  concurrency: wholeNumber(1, 100).default(1),
  /** The text of the mail about one event, as of `message`. @defaultValue as of `message` */
  template: messageOptions.shape.template.optional(),
});

export const emailSchema = emailOptions.transform((options, context) => {
  const { template: source, include = {}, server: text, sender, to, otherwise, allowHosts, ...rest } = options;
  const refuse = (option: string, message: string, input: unknown): void =>
    context.addIssue({ code: 'custom', path: [option], message, input });
  const read = source === undefined ? undefined : readTemplate(source, Object.keys(include));
  if (read?.outcome === 'refused') refuse('template', read.allowed, source);
  if (otherwise !== undefined && to !== IN_CHARGE) refuse('otherwise', `only with to: '${IN_CHARGE}'`, otherwise);
  const [server, readFrom] = [readServer(text), readSender(sender)];
  // Both were checked.
  if (server === null || readFrom === null) return z.NEVER;
  return {
    ...{ ...rest, include: options.include, otherwise, to, server, sender: readFrom },
    allowances: readAllowHosts(allowHosts),
    template: read?.outcome === 'read' ? read.template : undefined,
  };
});

/** Options of `email`. */
export type EmailOptions = z.input<typeof emailSchema>;
type EmailSettings = z.output<typeof emailSchema>;

/** `CRM <crm@acme.example>`, or the address alone. */
function readSender(text: string): { name: string; address: string } | null {
  const [, name = '', inBrackets] = /^([^<>\p{C}]*)<([^<>]+)>$/u.exec(text.trim()) ?? [];
  const address = inBrackets ?? text.trim();
  return ADDRESS.test(address) ? { name: name.trim().replace(/^"(.*)"$/, '$1'), address } : null;
}

/**
 * A subscription that sends mails through an SMTP server, plain and as HTML: by default one in the morning about all events since the last one.
 * The mails of one record are one thread, and a repeated attempt has the same Message-ID. What the server refuses for good is a dead
 * letter with its words; a bounce that comes later arrives at `sender`. Needs the package `nodemailer`.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export const email = defineKind({
  name: 'email',
  words: { en: 'mail', ko: '메일' },
  options: emailSchema,
  open: (settings) => openEmail(settings),
});

export function openEmail(settings: EmailSettings, world: Partial<MailWorld> = {}): OpenedKind {
  const { name, server, to, otherwise, digest, rate = RATE, disableAfter: disableAfterMs } = settings;
  requireOptionalPackage('nodemailer', `The handler email of the subscription "${name}"`);
  const mailbox = openMailServer({ ...settings, who: `Mail "${name}"`, subscription: name }, world);
  const send = (mail: Mail, { signal }: DigestContext) => mailbox.send(mail, signal);
  const directoryOf = ({ people }: DigestContext) => ({ addressIn: mailIn, otherwise, people });
  return {
    mutable: true,
    tell,
    ...{ retry: ENDPOINT_RETRY, rate, disableAfterMs, digest },
    ...{ address: server.host, destination: destinationOf(settings) },
    reach: () => mailbox.reach(),
    close: () => mailbox.close(),
    deliver: async (event, context) => {
      const recipients = to === IN_CHARGE ? [addressFor(personOf(event), directoryOf(context))] : [to].flat();
      const addresses = recipients.filter((one) => one !== undefined);
      if (addresses.length === 0) return NOBODY;
      const { status, refused } = await sendAll(
        sendingsOf(addresses, await eventMail(event, context, settings), context),
        context,
      );
      // Those that were accepted are not sent again with the dead letter.
      if (refused.length > 0) throw refused[0];
      return { ...(status !== undefined && { status }) };
    },
    handleDigest: async (summary, context) => {
      if (to === IN_CHARGE)
        return await sendParts(await partsOf(summary, directoryOf(context)), context, async (part) =>
          send({ ...(await partMail(part.digest, context)), to: [part.address], recipient: part.address }, context),
        );
      const addresses = [to].flat();
      const parts = addresses.map((address) => ({ key: keyOf(address), address, digest: summary }));
      const mail = await digestMail(summary, context, settings);
      return await sendParts({ parts, leftOut: 0 }, context, ({ address: recipient }) =>
        send({ ...mail, to: addresses, recipient }, context),
      );
    },
  };

  async function tell({ text, id, at }: Said, context: DigestContext): Promise<HandleResult> {
    const addresses = to === IN_CHARGE ? [otherwise].flatMap((one) => one ?? []) : [to].flat();
    if (addresses.length === 0) return NOBODY;
    const { language, timeZone } = context;
    const mail = textMail(text(formatsFor({ language, timeZone, now: at })), id, context, settings);
    const { status, refused } = await sendAll(sendingsOf(addresses, mail, context), context);
    if (refused.length > 0) throw refused[0];
    return { ...(status !== undefined && { status }) };
  }

  function sendingsOf(addresses: readonly string[], mail: Content, context: DigestContext) {
    return addresses.map((recipient) => ({
      key: keyOf(recipient),
      send: () => send({ ...mail, to: addresses, recipient }, context),
    }));
  }

  /** A single event reads as a single mail, and is in the thread of its record. */
  function partMail(part: DigestSummary, context: DigestContext): Promise<Content> {
    const [event] = part.first;
    return part.count === 1 && event !== undefined
      ? eventMail(event, context, settings)
      : digestMail(part, context, settings);
  }
}

type Content = Omit<Mail, 'to' | 'recipient'>;
type TextIn = (service: Service) => string;

const mailIn = ({ email: address }: PersonAddresses): string | undefined => address;

async function eventMail(
  event: ChangeEvent,
  context: DigestContext & { list?: ListName | null },
  { template, sender }: EmailSettings,
): Promise<Content> {
  const { language, timeZone, list, workspace } = context;
  const background = await readBackground([event], context);
  const readerFor = (service: Service): Reader => ({ service, language, timeZone, list, background });
  const usual: TextIn = (service) => usualMessage(event, readerFor(service));
  // A template is text: its own characters are no HTML either.
  const own = template && renderTemplate(template, event, readerFor(PLAIN_MAIL));
  const record = [workspace.name, objectOf(event), event.subject];
  return {
    ...mailOf({ sender, context, id: event.id, subject: subjectOf(usual(PLAIN_MAIL)) }),
    ...bodiesOf(own === undefined ? usual : (service) => (service === HTML_MAIL ? escapeHtml(own) : own), context),
    references: idOf(['record', ...record], domainOf(sender)),
  };
}

async function digestMail(summary: DigestSummary, context: DigestContext, settings: EmailSettings): Promise<Content> {
  const { language, timeZone } = context;
  const background = await readBackground(eventsIn(summary), context);
  const text = digestText(summary, formatsFor({ language, timeZone, now: summary.to.time }), background);
  return textMail(text, summary.id, context, settings);
}

function textMail(text: TitledText, id: string, context: DigestContext, { sender }: EmailSettings): Content {
  return {
    ...mailOf({ sender, context, id, subject: subjectOf(text.title) }),
    ...bodiesOf((service) => titledText(text, service), context),
  };
}

interface About {
  sender: EmailSettings['sender'];
  context: DigestContext;
  /** Of the event or the digest. */
  id: string;
  subject: string;
}

function mailOf({ sender, context, id, subject }: About) {
  const { subscription, workspace, test = false, language } = context;
  const mark = test ? `${wordsFor(language).t('message.test')} ` : '';
  return {
    from: sender,
    subject: `${mark}${subject}`,
    messageId: idOf([subscription, workspace.name, id], domainOf(sender)),
  };
}

function bodiesOf(textIn: TextIn, { language, test = false }: DigestContext) {
  const mark = test ? `${wordsFor(language).t('message.test')} ` : '';
  return {
    text: `${mark}${textIn(PLAIN_MAIL)}\n`,
    html: htmlDocument(`${mark}${textIn(HTML_MAIL)}`, language),
  };
}

function domainOf({ address }: EmailSettings['sender']): string {
  return address.slice(address.indexOf('@') + 1);
}

/** The same for all that use the server with one user: it counts by that. */
function destinationOf({ server: { host, port, login } }: EmailSettings): string {
  return createHash('sha256')
    .update(`${host}:${port} ${login?.user ?? ''}`)
    .digest('hex')
    .slice(0, 32);
}
