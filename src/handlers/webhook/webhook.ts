/** `webhook`: every event as a signed HTTP request. */
import { z } from 'zod';
import { strictOptions } from '../../schema-kit/fields.js';
import { secret } from '../../schema-kit/secret.js';
import type { HandlerContext, Subscription } from '../handler.js';
import { ENDPOINT_RETRY, endpointShape, placeOf, toEndpoint } from '../http/endpoint.js';
import { createPost, type EndpointWorld } from '../http/post.js';
import { defineKind } from '../kind.js';
import { subscriptionShape, toSubscription } from '../options.js';
import { A_SECRET, createSigner, encodeBatch, encodeEvent, isSecret, type Message, type Unsigned } from './message.js';
import { ping } from './ping.js';

const oneSecret = z.string({ error: A_SECRET }).refine(isSecret, { error: A_SECRET });
const secrets = z.array(oneSecret, { error: A_SECRET }).min(1, { error: A_SECRET }).max(10, { error: A_SECRET });

const webhookOptions = strictOptions({
  ...subscriptionShape,
  ...endpointShape,
  /** `whsec_…`. Give several while you replace one by another: each request has a signature for each. */
  secret: secret(
    z
      .union([oneSecret, secrets.readonly()], { error: A_SECRET })
      .transform((given) => (typeof given === 'string' ? [given] : given)),
  ),
});

export const webhookSchema = webhookOptions.transform((options, context) => toEndpoint(options, context));

export type WebhookOptions = z.input<typeof webhookSchema>;
type WebhookSettings = z.output<typeof webhookSchema>;

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
  const { name: subscription, url } = settings;
  const place = placeOf(url);
  const sign = createSigner(settings.secret);
  const post = createPost(
    {
      ...settings,
      who: `Webhook "${subscription}"`,
      subscription,
      place,
      // What a receiver might echo, and no message may show.
      hidden: [
        ...settings.secret.map((text) => text.slice('whsec_'.length)),
        url.search.slice(1),
        ...url.searchParams.values(),
      ],
      hints: { 401: COMPARE, 403: COMPARE },
    },
    world,
  );
  const send = (message: Unsigned, context: Pick<HandlerContext, 'log' | 'signal' | 'traceparent'>): Promise<void> =>
    post.send((now) => traced(sign(message, now), context.traceparent), context);
  return toSubscription(settings, {
    handler: 'webhook',
    retry: ENDPOINT_RETRY,
    rate: settings.rate,
    disableAfterMs: settings.disableAfter,
    handle: (event, context) => send(encodeEvent(event), context),
    handleBatch: (events, context) => send(encodeBatch(events), context),
    ping: ({ signal }) => ping({ subscription, place, sign, post, signal }),
    reach: () => post.reach(),
    close: () => post.close(),
  });
}

/** The receiver's spans belong to the trace of the change. Only the ids of trace and span leave this process. */
function traced({ headers, body }: Message, traceparent: string | undefined): Message {
  return { headers: { ...headers, ...(traceparent !== undefined && { traceparent }) }, body };
}
