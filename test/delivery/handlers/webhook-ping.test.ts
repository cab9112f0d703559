import { HTTP, type CloudEvent } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { Pinged } from '../../../src/delivery/handlers/handler.js';
import {
  createWebhook,
  webhook,
  webhookSchema,
  type WebhookOptions,
} from '../../../src/delivery/handlers/webhook/webhook.js';
import { useReceivers } from '../../support/handler-fixtures.js';

const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const secret = secretOf(7);
const startReceiver = useReceivers();

describe('a test event', () => {
  const ping = async (options: Partial<WebhookOptions> & { url: string }): Promise<Pinged> => {
    const subscription = webhook({ name: 'ops', secret, allowHosts: ['127.0.0.1'], ...options });
    try {
      return await subscription.ping!({ signal: new AbortController().signal });
    } finally {
      await subscription.close?.();
    }
  };

  it('is signed and sent as any other, and says what it is', async () => {
    const receiver = await startReceiver(() => ({ status: 200, body: 'thank\nyou' }));
    const pinged = await ping({
      url: `${receiver.url}/in?key=sesame`,
      secret: [secretOf(1), secretOf(2)],
      format: 'cloudevents',
    });
    const one = receiver.received[0]!;
    expect(pinged).toEqual({
      subscription: 'ops',
      place: `127.0.0.1:${receiver.port}/in`,
      id: one.headers['webhook-id'],
      type: 'changefeed.test',
      signatures: String(one.headers['webhook-signature'])
        .split(' ')
        .map((signature, index) => ({ secret: index + 1, signature })),
      outcome: 'accepted',
      status: 200,
      ms: expect.any(Number) as number,
      body: 'thank you',
      problem: null,
    });
    const headers = one.headers as Record<string, string>;
    for (const key of [secretOf(1), secretOf(2)]) new Webhook(key).verify(one.body, headers);
    const parsed = HTTP.toEvent({ headers: one.headers, body: one.body }) as CloudEvent<{ test: boolean }>;
    expect(parsed.validate()).toBe(true);
    expect([parsed.type, parsed.data?.test]).toEqual(['changefeed.test', true]);
  });

  it('webhook test: reports a refusal, a timeout and a forbidden address instead of failing', async () => {
    const refusing = await startReceiver(() => ({ status: 401, body: 'who are you' }));
    expect(await ping({ url: refusing.url })).toMatchObject({
      outcome: 'refused',
      status: 401,
      body: 'who are you',
      problem: `Webhook "ops": 127.0.0.1:${refusing.port}/ answered 401: the receiver does not accept the signature or the sender; compare the secrets.`,
    });
    const silent = await startReceiver(() => 'silence');
    expect(await ping({ url: silent.url, timeout: '100ms' })).toMatchObject({
      outcome: 'unreachable',
      status: null,
      problem: `Webhook "ops": 127.0.0.1:${silent.port}/ did not answer within 100 ms.`,
    });
    const settings = webhookSchema.parse({ name: 'ops', secret, url: 'https://inwards.example/hooks' });
    const inwards = createWebhook(settings, { resolve: () => Promise.resolve([{ address: '10.0.0.5', family: 4 }]) });
    const { outcome, problem } = await inwards.ping!({ signal: new AbortController().signal });
    await inwards.close?.();
    expect([outcome, problem]).toEqual([
      'unreachable',
      expect.stringContaining('in the range "private": nothing was sent'),
    ]);
  });
});
