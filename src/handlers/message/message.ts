/** `message`: every event as a line in a chat, by an incoming webhook such as Slack's. */
import type { ChangeEvent } from '../../events/types.js';
import type { Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { deliveryParts } from '../http/endpoint.js';
import { WEBHOOK_RETRY } from '../webhook/options.js';
import { createPost, type EndpointWorld } from '../http/post.js';
import { messageSchema, type MessageOptions, type MessageSettings } from './options.js';
import { plainWord } from './facts.js';
import { escapeText } from './mrkdwn.js';
import { renderTemplate } from './template.js';

/**
 * A subscription that posts each event as `{ "text": … }` to an incoming webhook (Slack, and what understands its format).
 * The text is a template's; what comes from records is escaped. Answers, retries and forbidden addresses are as with
 * `webhook`. A chat knows no ids: a message whose answer was lost is shown twice.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export function message(options: MessageOptions): Subscription {
  return messageKind.build(options, '');
}

export const messageKind = defineKind('message', messageSchema, (options) => createMessage(options));

const REVOKED =
  'the URL is not, or no longer, one that takes messages; make a new one and put it into the subscription';

export function createMessage(settings: MessageSettings, world: Partial<EndpointWorld> = {}): Subscription {
  const { name: subscription, target } = settings;
  const post = createPost(
    {
      ...settings,
      who: `Message "${subscription}"`,
      subscription,
      url: target.url,
      // The path of such a URL is its key: whoever has it may write into the channel.
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
    ...deliveryParts(settings),
    handle: (event, context) => post.send(() => encode(event, settings), context),
    close: () => post.close(),
  });
}

function encode(
  event: ChangeEvent,
  { template, payload }: MessageSettings,
): { headers: Record<string, string>; body: string } {
  const rendered = renderTemplate(template, event);
  // An empty message is refused; that a template had nothing to say of an event is no reason to lose it.
  const text = rendered === '' ? `${escapeText(plainWord(event, 'title'))} – ${event.type}` : rendered;
  return { headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify({ ...payload, text }) };
}
