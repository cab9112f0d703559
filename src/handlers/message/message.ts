/** `message`: every event as a chat message, through an incoming webhook such as Slack's. */
import type { ChangeEvent } from '../../events/types.js';
import type { Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { WEBHOOK_RETRY } from '../webhook/options.js';
import { createPost, type EndpointWorld } from '../http/post.js';
import { messageSchema, type MessageOptions, type MessageSettings } from './options.js';
import { escapeText, plainWord, type EventFacts } from './facts.js';
import { renderTemplate } from './template.js';

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

const REVOKED = 'the URL does not accept messages, or no longer does; create a new one and configure it';

export function createMessage(settings: MessageSettings, world: Partial<EndpointWorld> = {}): Subscription {
  const { name: subscription, target } = settings;
  const post = createPost(
    {
      ...settings,
      who: `Message "${subscription}"`,
      subscription,
      url: target.url,
      // The path of such a URL is its key: anyone who has it can write to the channel.
      place: target.url.host,
      timeoutMs: settings.timeout,
      hidden: [target.url.pathname.slice(1), target.url.search.slice(1), ...target.url.pathname.split('/')],
      hints: { 401: REVOKED, 403: REVOKED, 404: REVOKED },
    },
    world,
  );
  return toSubscription(settings, {
    handler: 'message',
    retry: WEBHOOK_RETRY,
    rate: settings.rate,
    disableAfter: settings.disableAfter,
    handle: (event, context) => post.send(() => encode(event, context, settings), context),
    reach: () => post.reach(),
    close: () => post.close(),
  });
}

function encode(
  event: ChangeEvent,
  facts: EventFacts,
  { template, payload }: MessageSettings,
): { headers: Record<string, string>; body: string } {
  const rendered = renderTemplate(template, event, facts);
  // An empty message would be rejected. A template that renders nothing must not lose the event.
  const text = rendered === '' ? `${escapeText(plainWord(event, 'title', facts))} – ${event.type}` : rendered;
  return {
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ ...NO_PREVIEWS, ...payload, text }),
  };
}
