import { HTTP, type CloudEvent } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { batchId } from '../../src/events/envelope.js';
import { retryAfterMsOf } from '../../src/handlers/errors.js';
import { webhook, type WebhookOptions } from '../../src/handlers/webhook/webhook.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { batchContext, sampleEvent, useReceivers } from '../support/handler-fixtures.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const startReceiver = useReceivers();
const EVENTS = ['a', 'b', 'c'].map((subject) => sampleEvent(subject));

const optionsOf = (url: string): WebhookOptions => ({
  name: 'ops',
  url,
  secret,
  allowHosts: ['127.0.0.1'],
  batch: { size: 500, linger: '2s' },
});

async function deliver(url: string, events: readonly ChangeEvent[] = EVENTS): Promise<void> {
  const subscription = webhook(optionsOf(url));
  try {
    await subscription.batch?.handle(events, batchContext());
  } finally {
    await subscription.close?.();
  }
}

describe('webhook batch', () => {
  it('webhook batch: collects events by size and linger', () => {
    expect(webhook(optionsOf('https://ops.example')).batch).toMatchObject({ size: 500, lingerMs: 2_000 });
  });

  it('webhook batch: posts one CloudEvents batch, signed as one message', async () => {
    const receiver = await startReceiver();
    await deliver(`${receiver.url}/hooks`);
    const [one, ...more] = receiver.received;
    expect(more).toEqual([]);
    expect(one!.headers['content-type']).toBe('application/cloudevents-batch+json');
    expect(new Webhook(secret).verify(one!.body, one!.headers as Record<string, string>)).toEqual(EVENTS);
    const parsed = HTTP.toEvent({ headers: one!.headers, body: one!.body }) as CloudEvent<unknown>[];
    expect(parsed.map((event) => [event.validate(), event.id])).toEqual(EVENTS.map(({ id }) => [true, id]));
  });

  it('webhook batch: the same events have the same message id, others another', async () => {
    const receiver = await startReceiver();
    await deliver(receiver.url);
    await deliver(receiver.url);
    await deliver(receiver.url, EVENTS.slice(1));
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    const whole = batchId(EVENTS.map(({ id }) => id));
    expect(ids).toEqual([whole, whole, batchId(EVENTS.slice(1).map(({ id }) => id))]);
    expect(new Set([...ids, ...EVENTS.map(({ id }) => id)]).size).toBe(2 + EVENTS.length);
  });

  it('webhook batch: fails as a whole when refused, and waits for Retry-After', async () => {
    const receiver = await startReceiver(() => ({ status: 503, headers: { 'retry-after': '7' } }));
    const error: unknown = await deliver(receiver.url).catch((reason: unknown) => reason);
    expect(retryAfterMsOf(error)).toBe(7_000);
  });
});
