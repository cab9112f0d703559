/** `webhook`: every event as a signed HTTP request. */
import type { HandlerContext, Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { encodeBatch, encodeMessage, type Message, type Sendable } from './message.js';
import { WEBHOOK_RETRY, webhookSchema, type WebhookOptions, type WebhookSettings } from './options.js';
import { ping } from './ping.js';
import { createPost, type EndpointWorld } from '../http/post.js';
import { createSigner } from './sign.js';

/**
 * A subscription that posts each event to a URL as a CloudEvent, signed as Standard Webhooks specifies. Any 2xx is success.
 * `Retry-After` is honoured. A 410, or days of failure, disable the subscription. Everything else is retried over hours. Redirects are
 * not followed, and private addresses are refused unless `allowHosts` names them.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export function webhook(options: WebhookOptions): Subscription {
  return webhookKind.inCode(options);
}

export const webhookKind = defineKind('webhook', webhookSchema, (options) => createWebhook(options));

const COMPARE = 'the receiver does not accept the signature or the sender; compare the secrets';

export function createWebhook(settings: WebhookSettings, world: Partial<EndpointWorld> = {}): Subscription {
  const { name: subscription, target, mode } = settings;
  const sign = createSigner(settings.secret);
  const signed = (event: Sendable, now: number): Message => {
    const { headers, body } = encodeMessage(event, mode);
    return { headers: { ...headers, ...sign({ id: event.id, body, now }) }, body };
  };
  const post = createPost(
    {
      ...settings,
      ...target,
      who: `Webhook "${subscription}"`,
      subscription,
      timeoutMs: settings.timeout,
      hidden: hiddenOf(settings),
      hints: { 401: COMPARE, 403: COMPARE },
    },
    world,
  );
  return toSubscription(settings, {
    handler: 'webhook',
    retry: WEBHOOK_RETRY,
    rate: settings.rate,
    disableAfter: settings.disableAfter,
    handle: (event, context) => post.send((now) => traced(signed(event, now), context), context),
    handleBatch: (events, context) => {
      const { id, headers, body } = encodeBatch(events);
      return post.send(
        (now) => traced({ headers: { ...headers, ...sign({ id, body, now }) }, body }, context),
        context,
      );
    },
    ping: ({ signal }) => ping({ subscription, place: target.place, signed, post, signal }),
    reach: () => post.reach(),
    close: () => post.close(),
  });
}

/** The receiver's spans belong to the trace of the change. Only the ids of trace and span leave this process. */
function traced({ headers, body }: Message, { traceparent }: Pick<HandlerContext, 'traceparent'>): Message {
  return traceparent === undefined ? { headers, body } : { headers: { ...headers, traceparent }, body };
}

/** Secrets that a receiver might echo and that no message may show. */
function hiddenOf({ secret, target }: WebhookSettings): string[] {
  const keys = secret.map((text) => text.slice('whsec_'.length));
  return [...keys, target.url.search.slice(1), ...target.url.searchParams.values()];
}
