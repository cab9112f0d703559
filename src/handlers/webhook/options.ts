/** The options of `webhook`. */
import { z } from 'zod';
import { oneOf, strictOptions } from '../../schema-kit/fields.js';
import { secret } from '../../schema-kit/secret.js';
import type { RetryPolicy } from '../handler.js';
import { endpointShape, toEndpoint } from '../http/endpoint.js';
import { subscriptionShape } from '../options.js';
import { A_SECRET, isSecret } from './sign.js';

/** Spans a night: the fifteenth attempt comes 7 to 14 hours after the first (docs/handlers.md has the table). */
export const WEBHOOK_RETRY: RetryPolicy = { attempts: 15, delayMs: 5_000, maxDelayMs: 4 * 3_600_000 };

const oneSecret = z.string({ error: A_SECRET }).refine(isSecret, { error: A_SECRET });
const secrets = z
  .array(oneSecret, { error: A_SECRET })
  .min(1, { error: A_SECRET })
  .max(10, { error: A_SECRET })
  .readonly();

const webhookOptions = strictOptions({
  ...subscriptionShape,
  ...endpointShape,
  /** `whsec_…`. Give several while you replace one by another: each request has a signature for each. */
  secret: secret(
    z
      .union([oneSecret, secrets], { error: A_SECRET })
      .transform((given) => (typeof given === 'string' ? [given] : given)),
  ),
  /**
   * `structured`: the whole event is the body (`application/cloudevents+json`). `binary`: `data` is the body and the other
   * attributes are `ce-` headers, which the signature (of id, time and body) does not cover. With `batch`, the body is an array
   * of whole events (`application/cloudevents-batch+json`). @defaultValue 'structured'
   */
  mode: oneOf('structured', 'binary').default('structured'),
});

export const webhookSchema = webhookOptions
  .refine(({ mode, batch }) => mode === 'structured' || batch === undefined, {
    path: ['mode'],
    error: `'structured' together with batch: headers describe one event only`,
  })
  .transform((options, context) => toEndpoint(options, context));

export type WebhookOptions = z.input<typeof webhookSchema>;
export type WebhookSettings = z.output<typeof webhookSchema>;
