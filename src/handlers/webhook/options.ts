/** The options of `webhook`. */
import { z } from 'zod';
import { strictOptions } from '../explain.js';
import type { RetryPolicy } from '../handler.js';
import { subscriptionShape, type SubscriptionOptions } from '../options.js';
import { isAllowHost, readAllowHosts } from './address.js';
import { A_SECRET, isSecret } from './sign.js';
import { readTarget } from './target.js';

export interface WebhookOptions extends SubscriptionOptions {
  /** Where events are posted. `https`, unless `allowHosts` names the host. */
  url: string;
  /** `whsec_…`; several while one takes over from another: each signs. */
  secret: string | readonly string[];
  /**
   * `structured`: the whole event is the body (`application/cloudevents+json`). `binary`: `data` is the body and the rest
   * stands in `ce-` headers, which the signature (of id, time and body) does not cover. @defaultValue 'structured'
   */
  mode?: 'structured' | 'binary' | undefined;
  /** Host names, addresses or CIDR ranges allowed although they are private or without https. @defaultValue none */
  allowHosts?: readonly string[] | undefined;
}

/** Spans a night: the fifteenth try comes 10 to 14 hours after the first. */
export const WEBHOOK_RETRY: RetryPolicy = { attempts: 15, delayMs: 5_000, maxDelayMs: 4 * 3_600_000 };

const A_URL = 'a URL that begins with https://';
const A_HOST =
  "a host name, an address or a CIDR range, without scheme, port or path (such as 'hooks.internal', '127.0.0.1', '10.1.0.0/16')";
const HOSTS = 'an array of host names, addresses or CIDR ranges';
const SECRET = z.string({ error: A_SECRET }).refine(isSecret, { error: A_SECRET });

const strict = strictOptions({
  ...subscriptionShape,
  url: z.string({ error: A_URL }),
  secret: z
    .union([SECRET, z.array(SECRET).min(1, { error: A_SECRET }).max(10, { error: A_SECRET })], { error: A_SECRET })
    .transform((secret) => (typeof secret === 'string' ? [secret] : secret)),
  mode: z.enum(['structured', 'binary'], { error: `'structured' or 'binary'` }).default('structured'),
  allowHosts: z.array(z.string({ error: A_HOST }).refine(isAllowHost, { error: A_HOST }), { error: HOSTS }).default([]),
});

export const webhookSchema = strict.transform(({ url, allowHosts, ...rest }, context) => {
  const allowances = readAllowHosts(allowHosts);
  const result = readTarget(url, allowances);
  if (result.outcome === 'accepted') return { ...rest, allowances, target: result.target };
  context.addIssue({ code: 'custom', path: ['url'], message: result.allowed });
  return z.NEVER;
}) satisfies z.ZodType<unknown, WebhookOptions>;

export type WebhookSettings = z.output<typeof webhookSchema>;
