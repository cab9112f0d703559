/** The webhook against receivers as their documentation shows them, without a parser for CloudEvents. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { webhook, type WebhookOptions } from '../../../src/delivery/handlers/webhook/webhook.js';
import { failureOf, handlerContext, sampleEvent } from '../../support/handler-fixtures.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

async function deliver(port: number, options: Partial<WebhookOptions>): Promise<void> {
  const url = `http://127.0.0.1:${port}/`;
  const subscription = webhook({ name: 'ops', url, secret, allowHosts: ['127.0.0.1'], ...options });
  onTestFinished(() => subscription.close?.());
  await subscription.handle(sampleEvent(), handlerContext());
}

type Seen = { body: unknown; key: unknown }[];

/** Node-RED's node "http in" has the parser of Express. */
async function startExpress(): Promise<{ port: number; seen: Seen }> {
  const seen: Seen = [];
  const app = express();
  app.use(express.json());
  app.post('/', ({ body, headers }, answer) => {
    seen.push({ body: body as unknown, key: headers['x-api-key'] });
    answer.sendStatus(204);
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, seen };
}

async function startFastify(): Promise<{ port: number; seen: Seen }> {
  const seen: Seen = [];
  const app = fastify();
  app.post('/', async ({ body, headers }, answer) => {
    seen.push({ body, key: headers['x-api-key'] });
    await answer.code(204).send();
  });
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  onTestFinished(() => app.close());
  return { port: Number(url.port), seen };
}

describe('webhook: stock receivers', () => {
  it.each([
    ['Express', startExpress],
    ['Fastify', startFastify],
  ])('webhook: %s reads the event, and the header that a gateway asks for', async (_name, start) => {
    const { port, seen } = await start();
    await deliver(port, { headers: { 'x-api-key': 'k-1234' } });
    expect(seen).toEqual([{ body: sampleEvent(), key: 'k-1234' }]);
  });

  it('webhook: the content type of CloudEvents is not read by them, and the error says what to set (control)', async () => {
    const [ofExpress, ofFastify] = [await startExpress(), await startFastify()];
    await deliver(ofExpress.port, { format: 'cloudevents' });
    expect(ofExpress.seen).toEqual([{ body: undefined, key: undefined }]);
    const error = await failureOf(deliver(ofFastify.port, { format: 'cloudevents' }));
    expect(error.message).toContain(
      'answered 415: the receiver does not read application/cloudevents+json; set `format`',
    );
  });
});
