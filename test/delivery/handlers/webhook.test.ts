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
  openWebhook,
  webhook,
  webhookSchema,
  type WebhookOptions,
} from '../../../src/delivery/handlers/webhook/webhook.js';
import type { Resolve } from '../../../src/delivery/handlers/http/guard.js';
import { excerptOf } from '../../../src/delivery/handlers/http/post.js';
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

  it.each<[number, Record<string, string>, string, object]>([
    [
      307,
      { location: 'http://127.0.0.1:1/' },
      ': redirects are not followed; put the final URL into the subscription',
      {},
    ],
    [429, { 'retry-after': '90' }, ' and asks to be tried again in 1 min 30 s', { retryAfterMs: 90_000 }],
    [429, { 'retry-after': '999999999' }, ' and asks to be tried again in 24 h', { retryAfterMs: 86_400_000 }],
    [410, {}, ' (Gone): the endpoint no longer exists', { disables: true }],
    [
      413,
      {},
      ': the event is too large for the receiver; raise its limit and retry the dead letter, or send less (transform, fields)',
      { isDead: true },
    ],
  ])('webhook: the answer %i %j decides what happens next', async (status, headers, says, outcome) => {
    const receiver = await startReceiver(() => ({ status, headers }));
    const error = await failureOf(deliver({ url: receiver.url }));
    expect(error.message).toBe(`Webhook "ops": 127.0.0.1:${receiver.port}/ answered ${status}${says}.`);
    const decided = { disables: isDisabling(error), isDead: isPermanent(error), retryAfterMs: retryAfterMsOf(error) };
    expect(decided).toEqual({ disables: false, isDead: false, retryAfterMs: undefined, ...outcome });
  });

  it('webhook: a secret that the cut of the excerpt would split is hidden', () => {
    expect(excerptOf(`${'x'.repeat(195)}sesame`, ['sesame'])).toBe(`${'x'.repeat(195)}[hid…`);
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

  it('webhook: says what to write where https:// leads to a port that speaks http', async () => {
    const receiver = await startReceiver();
    const error = await failureOf(deliver({ url: receiver.url.replace('http:', 'https:') }));
    expect(error.message).toMatch(/could not be reached \(ERR_SSL_\w+: .*write http:\/\/ in place of https:\/\/\)\.$/);
  });

  it('webhook: a parameter of the address is hidden as it was sent, and as the receiver reads it', async () => {
    const receiver = await startReceiver(({ path }) => ({ status: 404, body: `${path.split('=').at(-1)} a key+part` }));
    const error = await failureOf(deliver({ url: `${receiver.url}/in?id=7&key=a%20key%2Bpart` }));
    expect(partsOf(error).whole).toMatch(/It said: \[hidden\] \[hidden\]$/);
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
    const resolve: Resolve = () => Promise.resolve([{ address: '10.0.0.5', family: 4 }]);
    const subscription = webhook.subscription(settings, openWebhook(settings, { resolve }));
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
