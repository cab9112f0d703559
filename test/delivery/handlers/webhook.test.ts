import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { HTTP, type CloudEvent } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isDisabling, isPermanent, partsOf, retryAfterMsOf } from '../../../src/delivery/handlers/errors.js';
import {
  createWebhook,
  webhook,
  webhookSchema,
  type WebhookOptions,
} from '../../../src/delivery/handlers/webhook/webhook.js';
import { failureOf, handlerContext, sampleEvent, useReceivers, type Received } from '../../support/handler-fixtures.js';
import { selfSigned } from '../../support/self-signed.js';

const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const secret = secretOf(7);
const startReceiver = useReceivers();

async function deliver(options: Partial<WebhookOptions> & { url: string }, event = sampleEvent()): Promise<void> {
  const subscription = webhook({ name: 'ops', secret, allowHosts: ['127.0.0.1'], ...options });
  try {
    await subscription.handle(event, handlerContext());
  } finally {
    await subscription.close?.();
  }
}

function only(received: Received[]): Received {
  expect(received).toHaveLength(1);
  return received[0]!;
}

const verify = (one: Received, key = secret): unknown =>
  new Webhook(key).verify(one.body, one.headers as Record<string, string>);

describe('webhook: a delivery', () => {
  it('webhook: posts a CloudEvent with a signature that Standard Webhooks verifies', async () => {
    const receiver = await startReceiver();
    const event = sampleEvent();
    await deliver({ url: `${receiver.url}/hooks?key=1`, format: 'cloudevents' }, event);
    const one = only(receiver.received);
    expect(verify(one)).toEqual(event);
    expect(one).toMatchObject({
      method: 'POST',
      path: '/hooks?key=1',
      headers: {
        'content-type': 'application/cloudevents+json',
        'webhook-id': event.id,
        'user-agent': 'crm-changefeed',
      },
    });
    const parsed = HTTP.toEvent({ headers: one.headers, body: one.body }) as CloudEvent<unknown>;
    expect(parsed.validate()).toBe(true);
    expect(parsed).toMatchObject({
      id: event.id,
      type: event.type,
      subject: event.subject,
      time: event.time,
      data: event.data,
    });
  });

  it('webhook: `thin` leaves out the record, and keeps its id and the changes', async () => {
    const receiver = await startReceiver();
    const event = sampleEvent();
    await deliver({ url: receiver.url, thin: true }, event);
    const { before: _, after, ...rest } = event.data;
    expect(verify(only(receiver.received))).toEqual({
      ...event,
      data: { ...rest, before: null, after: after && { id: after.id } },
    });
  });

  it.each([200, 201, 202, 204, 299])('webhook: %i is success', async (status) => {
    const receiver = await startReceiver(() => ({ status }));
    await expect(deliver({ url: receiver.url })).resolves.toBeUndefined();
  });
});

describe('webhook: a refused delivery', () => {
  it('webhook: the error has status, host, path and the start of the answer, without query, secrets or line breaks', async () => {
    const key = secret.slice('whsec_'.length);
    const body = `no\n<b>sorry</b> ${key} sesame-key ${'x'.repeat(5_000)}`;
    const receiver = await startReceiver(() => ({ status: 500, body }));
    const error = await failureOf(deliver({ url: `${receiver.url}/hooks?key=sesame-key` }));
    const start = `Webhook "ops": 127.0.0.1:${receiver.port}/hooks answered 500. It said: `;
    expect(error.code).toBe('CF_DELIVERY_REFUSED');
    expect(error.facts).toEqual({ subscription: 'ops', place: `127.0.0.1:${receiver.port}/hooks`, status: 500 });
    const { whole } = partsOf(error);
    expect(whole.startsWith(`${start}no <b>sorry</b> [hidden] [hidden] xxx`)).toBe(true);
    expect(whole).toHaveLength(start.length + 200);
    expect([isPermanent(error), retryAfterMsOf(error)]).toEqual([false, undefined]);
  });

  it('webhook: does not follow a redirect', async () => {
    const inner = await startReceiver();
    const receiver = await startReceiver(() => ({ status: 307, headers: { location: inner.url } }));
    const error = await failureOf(deliver({ url: receiver.url }));
    expect(error.message).toBe(
      `Webhook "ops": 127.0.0.1:${receiver.port}/ answered 307: redirects are not followed; put the final URL into the subscription.`,
    );
    expect(inner.received).toEqual([]);
  });

  it.each([
    ['90', '1 min 30 s', 90_000],
    ['999999999', '24 h', 86_400_000],
  ])('webhook: waits for Retry-After %s', async (header, shown, waitMs) => {
    const receiver = await startReceiver(() => ({ status: 429, headers: { 'retry-after': header } }));
    const error = await failureOf(deliver({ url: receiver.url }));
    expect(error.message).toBe(
      `Webhook "ops": 127.0.0.1:${receiver.port}/ answered 429 and asks to be tried again in ${shown}.`,
    );
    expect(retryAfterMsOf(error)).toBe(waitMs);
  });

  it('webhook: a 410 disables the subscription, with the reason', async () => {
    const receiver = await startReceiver(() => ({ status: 410, body: 'moved away' }));
    const error = await failureOf(deliver({ url: receiver.url }));
    expect([isDisabling(error), isPermanent(error), retryAfterMsOf(error)]).toEqual([true, false, undefined]);
    expect(partsOf(error).whole).toBe(
      `Webhook "ops": 127.0.0.1:${receiver.port}/ answered 410 (Gone): the endpoint no longer exists. It said: moved away`,
    );
  });

  it('webhook: a 413 makes a dead letter at once, with what to do', async () => {
    const receiver = await startReceiver(() => ({ status: 413 }));
    const error = await failureOf(deliver({ url: receiver.url }));
    expect(isPermanent(error)).toBe(true);
    expect(error.message).toBe(
      `Webhook "ops": 127.0.0.1:${receiver.port}/ answered 413: the event is too large for the receiver; raise its limit and retry the dead letter, or send less (transform, fields).`,
    );
  });

  it('webhook: a header that the receiver repeats is in no message', async () => {
    const receiver = await startReceiver(() => ({ status: 500, body: 'bad key k-sesame' }));
    const error = await failureOf(deliver({ url: receiver.url, headers: { authorization: 'Basic k-sesame' } }));
    expect(partsOf(error).whole).toContain('It said: bad key [hidden]');
  });

  it('webhook: fails when the answer does not arrive in time', async () => {
    const receiver = await startReceiver(() => 'silence');
    const error = await failureOf(deliver({ url: receiver.url, timeout: '100ms' }));
    expect(error.code).toBe('CF_DELIVERY_REFUSED');
    expect(error.message).toBe(`Webhook "ops": 127.0.0.1:${receiver.port}/ did not answer within 100 ms.`);
  });

  it('webhook: ends at once when the delivery is aborted', async () => {
    const control = new AbortController();
    const receiver = await startReceiver(() => {
      control.abort();
      return 'silence';
    });
    const subscription = webhook({ name: 'ops', secret, allowHosts: ['127.0.0.1'], url: receiver.url });
    const { signal } = control;
    const error = await failureOf(Promise.resolve(subscription.handle(sampleEvent(), handlerContext({ signal }))));
    await subscription.close?.();
    expect(error.message).toBe(`Webhook "ops": 127.0.0.1:${receiver.port}/ was cancelled before it answered.`);
  });

  it('webhook: no message and no quote has the parts of a path that may be a key', async () => {
    const path = '/hooks/catch/123/PATHKEY';
    const receiver = await startReceiver(() => ({ status: 404, body: `Cannot POST ${path}` }));
    const error = await failureOf(deliver({ url: `${receiver.url}${path}` }));
    expect(partsOf(error).whole).toBe(
      `Webhook "ops": 127.0.0.1:${receiver.port}/hooks/… answered 404. It said: Cannot POST /hooks/[hidden]`,
    );
    expect(inspect(error, { depth: 9 })).not.toContain('PATHKEY');
  });

  it('webhook: says what to do about a certificate of an unknown authority', async () => {
    const { cert, key } = selfSigned();
    const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }).listen(0);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const error = await failureOf(deliver({ url, allowHosts: ['localhost'] }));
    expect(error.message).toMatch(/could not be reached \(DEPTH_ZERO_SELF_SIGNED_CERT: .* set NODE_EXTRA_CA_CERTS/);
  });

  it('webhook: reports a refused connection', async () => {
    const error = await failureOf(deliver({ url: 'http://127.0.0.1:1/hooks?key=sesame-key' }));
    expect(error.message).toBe('Webhook "ops": 127.0.0.1:1/hooks could not be reached (ECONNREFUSED).');
  });

  it('webhook: sends nothing to a name with an internal address, and says how to allow it', async () => {
    const settings = webhookSchema.parse({ name: 'ops', secret, url: 'https://inwards.example/hooks?key=sesame-key' });
    const subscription = createWebhook(settings, {
      resolve: () => Promise.resolve([{ address: '10.0.0.5', family: 4 }]),
    });
    const error = await failureOf(Promise.resolve(subscription.handle(sampleEvent(), handlerContext())));
    await subscription.close?.();
    expect(error.code).toBe('CF_ADDRESS_REFUSED');
    expect(error.message).toBe(
      'Webhook "ops": inwards.example/hooks: inwards.example resolves to 10.0.0.5, which is in the range "private": nothing was sent. If this address is intended, add the host or address to allowHosts.',
    );
  });
});

describe('webhook options', () => {
  const url = 'https://ops.example/hooks';
  const secrets = `whsec_ followed by 24 to 64 random bytes in base64, or an array of up to 10 of these (node -p "'whsec_' + crypto.randomBytes(32).toString('base64')" makes one)`;
  const keys =
    'name, on, workspaces, lists, class, fields, from, notFrom, where, include, language, transform, order, concurrency, retry, whenDead, timeout, start, afterRewind, lateAfter, settle, receipts, url, allowHosts, rate, disableAfter, secret, format, headers, thin';
  it.each<[string, object, string]>([
    [
      'a url with a key, which is not shown',
      { url: 'http://ops.example/?k=sesame', secret },
      'url of webhook "ops": found a string of 28 characters; allowed: https (http is not encrypted), unless allowHosts names "ops.example".',
    ],
    [
      'a secret mistyped',
      { url, secret: secret.replace('B', '!') },
      `secret of webhook "ops": found a string of 50 characters; allowed: ${secrets}.`,
    ],
    [
      'a host with a port',
      { url, secret, allowHosts: ['127.0.0.1:80'] },
      `allowHosts[0] of webhook "ops": found "127.0.0.1:80"; allowed: a host name, an address or a CIDR range, without scheme, port or path (such as 'hooks.internal', '127.0.0.1', '10.1.0.0/16').`,
    ],
    [
      'a header with a line break',
      { url, secret, headers: { 'x-api-key': 'sesame\r\nx: y' } },
      'headers["x-api-key"] of webhook "ops": found a string of 12 characters; allowed: a text in one line, of characters that HTTP allows in a header.',
    ],
    [
      'a header that we set',
      { url, secret, headers: { 'Webhook-Id': 'sesame' } },
      'headers["Webhook-Id"] of webhook "ops": found a string of 6 characters; allowed: another header (this one is set by HTTP or by the webhook itself).',
    ],
    [
      'a header whose variable is not set',
      { url, secret, headers: { 'x-api-key': undefined } },
      'headers["x-api-key"] of webhook "ops": found nothing; allowed: a text in one line, of characters that HTTP allows in a header.',
    ],
    [
      'an unknown option',
      { url, secret, secrets: [] },
      `secrets of webhook "ops": there is no such option (did you mean "secret"?); allowed: ${keys}.`,
    ],
  ])('refuse %s', (_what, options, sentence) => {
    expect(() => webhook({ name: 'ops', ...options } as WebhookOptions)).toThrow(
      expect.objectContaining({ code: 'CF_CONFIG_INVALID', message: sentence }),
    );
  });

  it('webhook options: rate and disableAfter are passed to the subscription', () => {
    const partsOf = (options: Partial<WebhookOptions>): unknown => {
      const { rate, disableAfterMs } = webhook({ name: 'ops', url, secret, ...options });
      return { rate, disableAfterMs };
    };
    expect(partsOf({})).toEqual({ rate: undefined, disableAfterMs: 5 * 86_400_000 });
    expect(partsOf({ disableAfter: '12h', rate: { requests: 20 } })).toEqual({
      rate: { requests: 20, perSeconds: 1 },
      disableAfterMs: 12 * 3_600_000,
    });
    expect(partsOf({ disableAfter: false })).toEqual({ rate: undefined, disableAfterMs: undefined });
  });
});
