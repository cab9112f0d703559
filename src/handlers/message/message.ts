/** `message`: events as chat messages, one by one or in digests, through an incoming webhook such as Slack's. */
import { z } from 'zod';
import { strictOptions, wholeNumber } from '../../schema-kit/fields.js';
import { secret } from '../../schema-kit/secret.js';
import type { DigestSummary, Subscription } from '../handler.js';
import { ENDPOINT_RETRY, endpointShape, rateOptions, toEndpoint } from '../http/endpoint.js';
import { createPost, type EndpointWorld, type Message } from '../http/post.js';
import { defineKind } from '../kind.js';
import { digestShape } from '../digest.js';
import { subscriptionShape, toSubscription } from '../options.js';
import { formatsFor } from '../../words/format.js';
import { digestText } from './digest-text.js';
import { cut, DEFAULT_TEMPLATE, escapeText, readTemplate, renderTemplate } from './template.js';

const A_TEMPLATE = 'a text that is not empty, with {{title}}, {{changes}}, {{after.이름}} and the like in it';
const A_PAYLOAD = 'an object of fields that the service knows, other than text';

const template = z
  .string({ error: A_TEMPLATE })
  .refine((text) => text.trim() !== '', { error: A_TEMPLATE })
  .transform((source, context) => {
    const result = readTemplate(source);
    if (result.outcome === 'read') return result.template;
    context.addIssue({ code: 'custom', message: result.allowed });
    return z.NEVER;
  });

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
  /** Upper bound of the requests that all processes together send; Slack allows one per second. @defaultValue one per second */
  rate: rateOptions.default({ requests: 1, perSeconds: 1 }),
  /**
   * The text of the message, with placeholders such as `{{title}}`, `{{changes}}`, `{{after.이름}}` or `{{record.담당자 | unassigned}}`.
   * @defaultValue `'*{{title}}* – {{object}} {{verb}}\n{{changes}}'`
   */
  template: template.prefault(DEFAULT_TEMPLATE),
  /** Sent next to `text`, unchanged: `{ channel, username, icon_emoji … }`. @defaultValue `{ unfurl_links: false, unfurl_media: false }`, which stay unless they are given */
  payload: secret(
    z
      .record(z.string(), z.unknown(), { error: A_PAYLOAD })
      .refine((payload) => !('text' in payload), { error: A_PAYLOAD }),
  )
    .readonly()
    .default({}),
});

const limited = messageOptions.refine(({ digest, mostPerMinute }) => digest === undefined || !mostPerMinute, {
  path: ['mostPerMinute'],
  error: 'only without digest',
});

export const messageSchema = limited.transform((options, context) => toEndpoint(options, context));

export type MessageOptions = z.input<typeof messageSchema>;
type MessageSettings = z.output<typeof messageSchema>;

/**
 * A subscription that posts each event as `{ "text": … }` to an incoming webhook (Slack and compatible services). The text comes from
 * a template; values of records are escaped. Answers, retries and refused addresses are handled as by `webhook`. A chat has no
 * idempotency key: a message whose answer was lost appears twice.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export function message(options: MessageOptions): Subscription {
  return messageKind.inCode(options);
}

export const messageKind = defineKind('message', messageSchema, (options) => createMessage(options));

/** Slack would fetch the addresses in a record, and show what is there. Other services do not know these fields. */
const NO_PREVIEWS = { unfurl_links: false, unfurl_media: false };

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
    rate: settings.rate,
    disableAfterMs: settings.disableAfter,
    digest,
    mostPerMinute: digest !== undefined || mostPerMinute === false ? undefined : mostPerMinute,
    handle: (event, context) =>
      post.send(() => encode(renderTemplate(settings.template, event, context), settings), context),
    handleDigest: (summary, context) => post.send(() => encode(renderDigest(summary), settings), context),
    reach: () => post.reach(),
    close: () => post.close(),
  });
}

function encode(text: string, { payload }: MessageSettings): Message {
  return {
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ ...NO_PREVIEWS, ...payload, text }),
  };
}

function renderDigest(summary: DigestSummary): string {
  const { title, lines, link } = digestText(summary, formatsFor({ language: 'en', now: summary.to.time }));
  const linked = link === null ? [] : [`<${link.url}|${escapeText(link.text)}>`];
  const text = cut([`*${escapeText(title)}*`, ...lines.map(escapeText)].join('\n'));
  return [text, ...linked].join('\n');
}
