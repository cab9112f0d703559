/** The options of `webhook`. */
import { z } from 'zod';
import { strictOptions } from '../../schema-kit/fields.js';
import type { RetryPolicy } from '../handler.js';
import { subscriptionShape, type SubscriptionOptions } from '../options.js';
import { endpointShape, toEndpoint, type EndpointOptions } from '../http/endpoint.js';
import { A_SECRET, isSecret } from './sign.js';

export interface WebhookOptions extends SubscriptionOptions, EndpointOptions {
  /** `whsec_…`; several while one takes over from another: each signs. */
  secret: string | readonly string[];
  /**
   * `structured`: the whole event is the body (`application/cloudevents+json`). `binary`: `data` is the body and the rest
   * stands in `ce-` headers, which the signature (of id, time and body) does not cover. With `batch`, the body is an array of whole events
   * (`application/cloudevents-batch+json`). @defaultValue 'structured'
   */
  mode?: 'structured' | 'binary' | undefined;
}

/** Spans a night: the fifteenth try comes 7 to 14 hours after the first (docs/handlers.md has the table). */
export const WEBHOOK_RETRY: RetryPolicy = { attempts: 15, delayMs: 5_000, maxDelayMs: 4 * 3_600_000 };

const SECRET = z.string({ error: A_SECRET }).refine(isSecret, { error: A_SECRET });

const strict = strictOptions({
  ...subscriptionShape,
  url: endpointShape.url,
  secret: z
    .union([SECRET, z.array(SECRET).min(1, { error: A_SECRET }).max(10, { error: A_SECRET })], { error: A_SECRET })
    .transform((secret) => (typeof secret === 'string' ? [secret] : secret)),
  mode: z.enum(['structured', 'binary'], { error: `'structured' or 'binary'` }).default('structured'),
  allowHosts: endpointShape.allowHosts,
  rate: endpointShape.rate,
  disableAfter: endpointShape.disableAfter,
});

export const webhookSchema = strict
  .refine(({ mode, batch }) => mode === 'structured' || batch === undefined, {
    path: ['mode'],
    error: `'structured' together with batch: headers tell of one event only`,
  })
  .transform((options, context) => toEndpoint(options, context)) satisfies z.ZodType<unknown, WebhookOptions>;

export type WebhookSettings = z.output<typeof webhookSchema>;
