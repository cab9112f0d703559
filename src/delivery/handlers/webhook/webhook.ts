/** Every event as a signed HTTP request: CloudEvents in structured mode, signed as Standard Webhooks specifies. */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { ChangeEvent } from '../../../events/types.js';
import { isoTime } from '../../../kit/clock.js';
import { yesOrNo } from '../../../kit/schema/fields.js';
import { secret } from '../../../kit/schema/secret.js';
import type { TestOutcome, Subscription } from '../handler.js';
import { destinationOf, ENDPOINT_RETRY, endpointShape, hiddenParts, placeOf, toEndpoint } from '../http/endpoint.js';
import { createPost, type EndpointWorld, type Message } from '../http/post.js';
import { defineKind, kindOptions, type OpenedKind } from '../kind.js';

const PREFIX = 'whsec_';
// The specification's limits, in bytes.
const LEAST_BYTES = 24;
const MOST_BYTES = 64;
const A_SECRET = `${PREFIX} followed by ${LEAST_BYTES} to ${MOST_BYTES} random bytes in base64, or an array of up to 10 of these (node -p "'${PREFIX}' + crypto.randomBytes(32).toString('base64')" makes one)`;

const A_HEADERS = "an object of header names and texts, such as { 'x-api-key': '…' }";
const A_HEADER_VALUE = 'a text in one line, of characters that HTTP allows in a header';
/** Names that HTTP or the signature sets. */
const RESERVED =
  /^(content-.*|webhook-.*|host|connection|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-connection|user-agent)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const oneSecret = z.string({ error: A_SECRET }).refine(isSecret, { error: A_SECRET });
const secrets = z.array(oneSecret, { error: A_SECRET }).min(1, { error: A_SECRET }).max(10, { error: A_SECRET });

export const webhookOptions = kindOptions({
  ...endpointShape,
  /** `whsec_…`. Give several while you replace one by another: each request has a signature for each. */
  secret: secret(
    z
      .union([oneSecret, secrets.readonly()], { error: A_SECRET })
      .transform((given) => (typeof given === 'string' ? [given] : given)),
  ),
  /**
   * The content type of each request. `json`: `application/json`, which stock frameworks parse. `cloudevents`: `application/cloudevents+json`. Body and
   * signature are the same. @defaultValue 'json'
   */
  format: z.enum(['json', 'cloudevents'], { error: "'json' or 'cloudevents'" }).default('json'),
  /** Further headers of each request, such as a key that a gateway asks for. Values are never shown. @defaultValue none */
  headers: secret(z.record(z.string(), z.string({ error: A_HEADER_VALUE }), { error: A_HEADERS }).default({})),
  /** Leaves out the record: `before` is null, and `after` has only its `id`. For receivers that limit the size of a request. @defaultValue false */
  thin: yesOrNo.default(false),
});

export const webhookSchema = webhookOptions
  .check(({ value: { headers }, issues }) => {
    for (const [name, value] of Object.entries(headers)) {
      const message = problemOfHeader(name, value);
      if (message !== null) issues.push({ code: 'custom', path: ['headers', name], message, input: undefined });
    }
  })
  .transform((options, context) => toEndpoint(options, context));

function problemOfHeader(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name)) return 'the name of a header: letters, digits and hyphens';
  if (RESERVED.test(name)) return 'another header (this one is set by HTTP or by the webhook itself)';
  return HEADER_VALUE.test(value) ? null : A_HEADER_VALUE;
}

/** Options of `webhook`. */
export type WebhookOptions = z.input<typeof webhookSchema>;
type WebhookSettings = z.output<typeof webhookSchema>;

/**
 * A subscription that posts each event to a URL as a CloudEvent, signed as Standard Webhooks specifies. Any 2xx is success.
 * `Retry-After` is honoured. A 410, or days of failure, pause the subscription. Everything else is retried over hours. Redirects are
 * not followed, and private addresses are refused unless `allowHosts` names them.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export const webhook = defineKind({
  name: 'webhook',
  words: { en: 'webhook', ko: '웹훅' },
  options: webhookSchema,
  perWorkspace: {
    url: 'https://workspace.example/',
    secret: `${PREFIX}${'A'.repeat(43)}=`,
    headers: {},
  },
  open: (settings) => openWebhook(settings),
});

const COMPARE = 'the receiver does not accept the signature or the sender; compare the secrets';

export function openWebhook(settings: WebhookSettings, world: Partial<EndpointWorld> = {}): OpenedKind {
  const { name: subscription, url } = settings;
  const place = placeOf(url);
  const sign = createSigner(settings.secret);
  const post = createPost(
    {
      ...settings,
      who: `Webhook "${subscription}"`,
      subscription,
      place,
      // A receiver might echo these, and no message may show them.
      hidden: [
        ...settings.secret.map((text) => text.slice(PREFIX.length)),
        ...hiddenParts(url),
        ...Object.values(settings.headers).flatMap((value) => [value, ...value.split(' ')]),
      ],
      hints: {
        401: COMPARE,
        403: COMPARE,
        415: `the receiver does not read ${CONTENT_TYPE[settings.format]}; set \`format\``,
      },
    },
    world,
  );
  const encode = (event: EncodedEvent): Unsigned => encodeEvent(event, settings);
  const sent = (event: ChangeEvent): ChangeEvent => (settings.thin ? thinned(event) : event);
  const ping: NonNullable<Subscription['ping']> = async ({ signal, event: given }): Promise<TestOutcome> => {
    // A new id each time: a receiver would skip an id it has already received.
    const id = given?.id ?? `test_${randomUUID()}`;
    // Outside of `crm.`, so that no CRM event can be mistaken for a test, and `crm.*` does not select tests.
    const type = given?.type ?? 'changefeed.test';
    const message = 'A test event sent with "changefeed webhook test". Nothing has changed in the CRM.';
    let signature = '';
    const probed = await post.probe((now) => {
      const about = { id, source: '/changefeed', type, subject: subscription, time: isoTime(now) };
      const data = { test: true, message };
      const event = { specversion: '1.0', ...about, datacontenttype: 'application/json', data } as const;
      const signed = sign(encode(given === undefined ? event : sent(given)), now);
      signature = signed.headers['webhook-signature'] ?? '';
      return signed;
    }, signal);
    const signatures = signature.split(' ').map((text, index) => ({ secret: index + 1, signature: text }));
    return { subscription, place, id, type, signatures, ...probed };
  };
  return {
    retry: ENDPOINT_RETRY,
    rate: settings.rate,
    disableAfterMs: settings.disableAfter,
    address: url.host,
    destination: destinationOf(url),
    deliver: (event, context) => post.send((now) => sign(encode(sent(event)), now), context),
    ping,
    reach: () => post.reach(),
    close: () => post.close(),
  };
}

interface Unsigned extends Message {
  id: string;
}

type EncodedEvent = Omit<ChangeEvent, 'type' | 'data'> & { type: string; data: object };

const CONTENT_TYPE = { json: 'application/json', cloudevents: 'application/cloudevents+json' } as const;

export function encodeEvent(
  event: EncodedEvent,
  { format, headers }: { format: keyof typeof CONTENT_TYPE; headers: Record<string, string> },
): Unsigned {
  return { id: event.id, headers: { ...headers, 'content-type': CONTENT_TYPE[format] }, body: JSON.stringify(event) };
}

/** For receivers that read the record themselves. */
function thinned(event: ChangeEvent): ChangeEvent {
  return { ...event, data: { ...event.data, before: null, after: event.data.after && { id: event.data.after.id } } };
}

/** @param now time of this attempt, ms since the epoch: receivers reject messages that are more than minutes old */
type Sign = (message: Unsigned, now: number) => Message;

/** One signature per secret, so that a receiver can rotate secrets without losing an event. */
export function createSigner(secrets: readonly string[]): Sign {
  const signers = secrets.map((secret) => new Webhook(secret));
  return ({ id, headers, body }, now) => {
    const at = new Date(now);
    const signed = {
      ...headers,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now / 1_000)),
      'webhook-signature': signers.map((signer) => signer.sign(id, at, body)).join(' '),
    };
    return { headers: signed, body };
  };
}

function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const encoded = text.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  // Node ignores invalid base64. A typing error must not become another key.
  return bytes.toString('base64') === encoded && bytes.length >= LEAST_BYTES && bytes.length <= MOST_BYTES;
}
