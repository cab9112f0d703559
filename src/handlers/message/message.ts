/** `message`: events as chat messages, one by one or in digests, through the incoming webhook of a service such as Slack. */
import { z } from 'zod';
import type { ListName } from '../../crm/lists/lists.js';
import type { ChangeEvent } from '../../events/types.js';
import { strictOptions, wholeNumber } from '../../schema-kit/fields.js';
import { secret } from '../../schema-kit/secret.js';
import type { DigestContext, DigestSummary, Subscription } from '../handler.js';
import { ENDPOINT_RETRY, endpointShape, rateOptions, toEndpoint } from '../http/endpoint.js';
import { createPost, type EndpointWorld, type Message } from '../http/post.js';
import { defineKind } from '../kind.js';
import { digestShape } from '../digest.js';
import { subscriptionShape, toSubscription } from '../options.js';
import { formatsFor } from '../../words/format.js';
import { digestText } from './digest-text.js';
import { SERVICE_NAMES, SERVICES, type Service } from './services.js';
import { cut, readTemplate, renderTemplate, usualMessage, type Reader } from './template.js';

const A_TEMPLATE = 'a text that is not empty, with {{title}}, {{changes}}, {{after.이름}} and the like in it';
const A_PAYLOAD = 'an object of fields that the service knows, other than';

/** KakaoWork documents an API of bots, and no incoming webhook. */
const serviceError = ({ input }: { input?: unknown }): string => {
  const names = new Intl.ListFormat('en', { type: 'disjunction' }).format(SERVICE_NAMES.map((name) => `'${name}'`));
  return input === 'kakaowork'
    ? `${names} (KakaoWork documents no incoming webhook: write a handler for the API of its bots)`
    : names;
};

const messageOptions = strictOptions({
  ...subscriptionShape,
  ...endpointShape,
  ...digestShape,
  /**
   * Without `digest`: messages that are sent in any minute for one workspace. What is found beyond them until the minute is over becomes
   * one message, as of a digest. `false`: each event is a message, however many there are. @defaultValue 20
   */
  mostPerMinute: z
    .union([z.literal(false), wholeNumber(1, 1_000)], { error: 'false, or a whole number from 1 to 1000' })
    .optional(),
  /** Number of messages one process sends at the same time. With one, messages have the order of the events. @defaultValue 1 */
  concurrency: wholeNumber(1, 1_000).default(1),
  /** Whose webhook it is. It decides the body, the longest text, and what a value of a record must not contain. @defaultValue 'slack' */
  service: z.enum(SERVICE_NAMES, { error: serviceError }).default('slack'),
  /** Upper bound of the requests that all processes together send. @defaultValue one per second; `teams` four */
  rate: rateOptions.optional(),
  /**
   * The text of the message, with placeholders such as `{{title}}`, `{{changes}}`, `{{after.이름}}`, `{{link}}` or `{{record.담당자 | unassigned}}`.
   * @defaultValue what happened to what, the records of `include`, the due time, the changes, and a link
   */
  template: z
    .string({ error: A_TEMPLATE })
    .refine((text) => text.trim() !== '', { error: A_TEMPLATE })
    .optional(),
  /**
   * Further members of the body, unchanged: `{ channel, username, icon_emoji … }`.
   * @defaultValue no previews of links, and in Discord no mentions, which stay unless they are given
   */
  payload: secret(z.record(z.string(), z.unknown(), { error: A_PAYLOAD }))
    .readonly()
    .default({}),
});

const limited = messageOptions.refine(({ digest, mostPerMinute }) => digest === undefined || !mostPerMinute, {
  path: ['mostPerMinute'],
  error: 'only without digest',
});

export const messageSchema = limited.transform((options, context) => {
  const { template: source, include = {}, service, payload } = options;
  const read = source === undefined ? undefined : readTemplate(source, Object.keys(include));
  const refuse = (option: string, message: string, input: unknown): void =>
    context.addIssue({ code: 'custom', path: [option], message, input });
  if (read?.outcome === 'refused') refuse('template', read.allowed, source);
  const { member } = SERVICES[service];
  if (member in payload) refuse('payload', `${A_PAYLOAD} ${member}`, payload);
  return { ...toEndpoint(options, context), template: read?.outcome === 'read' ? read.template : undefined };
});

export type MessageOptions = z.input<typeof messageSchema>;
type MessageSettings = z.output<typeof messageSchema>;

/**
 * A subscription that posts each event as a chat message to an incoming webhook: of Slack (and of what takes its body), Discord, Microsoft
 * Teams, JANDI or Google Chat. Values of records are formatted by language and time zone, and escaped. Answers, retries and refused
 * addresses are handled as by `webhook`. A chat has no idempotency key: a message whose answer was lost appears twice.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export function message(options: MessageOptions): Subscription {
  return messageKind.inCode(options);
}

export const messageKind = defineKind('message', messageSchema, (options) => createMessage(options));

const MOST_PER_MINUTE = 20;

const REVOKED = 'the URL does not accept messages, or no longer does; create a new one and configure it';

export function createMessage(settings: MessageSettings, world: Partial<EndpointWorld> = {}): Subscription {
  const { name: subscription, url, digest, mostPerMinute = MOST_PER_MINUTE } = settings;
  const post = createPost(
    {
      ...settings,
      who: `Message "${subscription}"`,
      subscription,
      // The path of such a URL is its key: anyone who has it can write to the channel.
      place: url.host,
      hidden: [url.pathname.slice(1), url.search.slice(1), ...url.pathname.split('/')],
      hints: { 401: REVOKED, 403: REVOKED, 404: REVOKED },
    },
    world,
  );
  return toSubscription(settings, {
    handler: 'message',
    retry: ENDPOINT_RETRY,
    rate: settings.rate ?? SERVICES[settings.service].rate,
    disableAfterMs: settings.disableAfter,
    address: url.host,
    digest,
    mostPerMinute: digest !== undefined || mostPerMinute === false ? undefined : mostPerMinute,
    handle: (event, context) =>
      post.send(() => encode(textOf(event, readerOf(context, settings), settings), settings), context),
    handleDigest: (summary, context) =>
      post.send(() => encode(renderDigest(summary, readerOf(context, settings)), settings), context),
    reach: () => post.reach(),
    close: () => post.close(),
  });
}

function readerOf(context: DigestContext & { list?: ListName | null }, { service }: MessageSettings): Reader {
  const { language, timeZone, list } = context;
  return { service: SERVICES[service], language, timeZone, list };
}

function textOf(event: ChangeEvent, reader: Reader, { template }: MessageSettings): string {
  return template === undefined ? usualMessage(event, reader) : renderTemplate(template, event, reader);
}

/** The payload may change all that the service documents, but not the text. */
function encode(text: string, { service, payload }: MessageSettings): Message {
  const { body, member, headers }: Service = SERVICES[service];
  const own = body(text);
  return {
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify({ ...own, ...payload, [member]: own[member] }),
  };
}

function renderDigest(summary: DigestSummary, { service, language, timeZone }: Reader): string {
  const { title, lines, link } = digestText(summary, formatsFor({ language, timeZone, now: summary.to.time }));
  const linked = link === null ? '' : `\n${service.link(link.url, service.escape(link.text))}`;
  const text = [service.bold(service.escape(title)), ...lines.map((line) => service.escape(line))].join('\n');
  return `${cut(text, { ...service, longest: service.longest - linked.length })}${linked}`;
}
