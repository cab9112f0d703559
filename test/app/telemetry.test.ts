import { SpanKind, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openChangefeed, type Changefeed } from '../../src/app/changefeed.js';
import { parseConfig } from '../../src/config/parse.js';
import { defineHandler } from '../../src/handlers/define.js';
import { defineDerive } from '../../src/handlers/derive.js';
import { RetryAfterError } from '../../src/handlers/errors.js';
import { webhook } from '../../src/handlers/webhook/webhook.js';
import { eventually } from '../support/eventually.js';
import { SECRET, useChain, type Chain } from '../support/chain.js';
import { useRedis } from '../support/redis.js';
import { outcomeOf, traceOf, traceparentOf, useSpans } from '../support/spans.js';

const spans = useSpans();
const redis = useRedis();
const chain = useChain();
const tracer = trace.getTracer('the test');

async function open(world: Chain, more: object): Promise<Changefeed> {
  const raw = { ...world.config('1h', redis.keys.prefix), telemetry: true, subscriptions: [], ...more };
  const feed = await openChangefeed({ config: parseConfig(raw, { source: 'the test', redisUrl: redis.url }) });
  onTestFinished(() => feed.stop());
  await feed.start(['dispatch', 'handle']);
  return feed;
}

async function sweep(feed: Changefeed): Promise<void> {
  expect(await feed.sweep({ lists: ['people'] })).toMatchObject([{ outcome: 'complete' }]);
  expect(await feed.waitUntilHandled({ timeoutMs: 20_000 })).toEqual({ outcome: 'handled' });
}

/** The last one: a span ends after its event has left the queue. */
const one = (name: string): Promise<ReadableSpan> =>
  eventually(() => {
    const found = spans.named(name).at(-1);
    if (found === undefined) throw new Error(`no span "${name}"`);
    return found;
  });

const logged = (): Promise<[string, string[]][]> => redis.redis.xrange(redis.keys.log('acme'), '-', '+');

describe('telemetry', () => {
  it('telemetry: one trace leads from the request to what a handler does, and its spans name the event without its contents', async () => {
    const world = await chain();
    const own = defineHandler({
      name: 'greet',
      handle: async () => {
        await tracer.startActiveSpan('greeting', async (span) => {
          await Promise.resolve();
          span.end();
        });
      },
    });
    const feed = await open(world, { subscriptions: [own] });
    await sweep(feed);
    const id = world.sandbox.life.createPerson();
    await sweep(feed);

    const greeting = await one('greeting');
    expect(spans.pathTo(greeting)).toEqual(['sweep people', 'publish people', 'process greet', 'greeting']);
    const inTrace = spans.all().filter((span) => traceOf(span) === traceOf(greeting));
    const requests = inTrace.filter(({ kind }) => kind === SpanKind.CLIENT);
    expect(new Set(requests.map((span) => spans.pathTo(span).join(' > ')))).toEqual(
      new Set(['sweep people > read people > GET']),
    );
    const [[, fields] = ['', []]] = await logged();
    const event = JSON.parse(fields[1] ?? '') as { id: string };
    expect((await one('process greet')).attributes).toEqual({
      'messaging.system': 'changefeed',
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': 'greet',
      'messaging.message.id': event.id,
      'cloudevents.event_type': 'crm.person.created',
      'changefeed.workspace': 'acme',
      'changefeed.list': 'people',
      'changefeed.subscription': 'greet',
      'changefeed.handler': 'custom',
      'changefeed.attempt': 1,
    });
    const [publish, process] = [await one('publish people'), await one('process greet')];
    expect([publish.kind, process.kind]).toEqual([SpanKind.PRODUCER, SpanKind.CONSUMER]);
    const values = inTrace.flatMap(({ attributes }) => Object.values(attributes)).join(' ');
    expect(values).not.toContain(id);
    expect(values).not.toContain(world.token);
  });

  it('telemetry: the log has the trace context behind the event, where readers of earlier releases do not look', async () => {
    const world = await chain();
    const feed = await open(world, {});
    await sweep(feed);
    world.sandbox.life.createPerson();
    await sweep(feed);
    const [[, fields] = ['', []]] = await logged();
    expect(fields).toEqual(['event', expect.any(String), 'traceparent', traceparentOf(await one('publish people'))]);
  });

  it('telemetry: entries without a trace context, and with fields of later releases, are handled', async () => {
    const world = await chain();
    const seen: string[] = [];
    const feed = await open(world, {
      subscriptions: [defineHandler({ name: 'greet', handle: ({ id }) => void seen.push(id) })],
    });
    await sweep(feed);
    world.sandbox.life.createPerson();
    await sweep(feed);
    const [[, fields] = ['', []]] = await logged();
    const json = fields[1] ?? '';
    const later = (id: string): string => JSON.stringify({ ...(JSON.parse(json) as object), id });
    const log = redis.keys.log('acme');
    await redis.redis.xadd(log, '*', 'event', later('plain'));
    await redis.redis.xadd(log, '*', 'colour', 'event', 'traceparent', 'not one', 'event', later('later'));
    expect(await feed.waitUntilHandled({ timeoutMs: 20_000 })).toEqual({ outcome: 'handled' });
    expect(seen.slice(1)).toEqual(['plain', 'later']);
    const roots = await eventually(() => {
      const found = spans.named('process greet').filter(({ parentSpanContext }) => parentSpanContext === undefined);
      expect(found).toHaveLength(2);
      return found;
    });
    expect(roots.map(({ attributes }) => attributes['messaging.message.id'])).toEqual(['plain', 'later']);
  });

  it('telemetry: each attempt is a span, and a failed one has the type of its error and not its message', async () => {
    const world = await chain();
    const failing = defineHandler({
      name: 'flaky',
      handle(_event, { attempt }) {
        if (attempt === 1) throw new RetryAfterError('Min-jun 010-1234-5678', { retryAfter: 1 });
        if (attempt === 2) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
      },
      retry: { attempts: 5, delay: '1ms', maxDelay: '5ms' },
    });
    const feed = await open(world, { subscriptions: [failing] });
    await sweep(feed);
    world.sandbox.life.createPerson();
    await sweep(feed);
    const attempts = await eventually(() => {
      const found = spans.named('process flaky');
      expect(found).toHaveLength(3);
      return found;
    });
    expect(attempts.map((span) => [span.attributes['changefeed.attempt'], outcomeOf(span)])).toEqual([
      [1, 'RetryAfterError'],
      [2, 'ECONNREFUSED'],
      [3, 'ok'],
    ]);
    expect(new Set(attempts.map(traceOf)).size).toBe(1);
    expect(
      JSON.stringify(attempts.map(({ attributes, events, status }) => [attributes, events, status])),
    ).not.toContain('Min-jun');
  });

  it('telemetry: a webhook carries the trace context of its request, once', async () => {
    const world = await chain();
    const ops = webhook({ name: 'ops', url: world.receiver.url, secret: SECRET, allowHosts: ['127.0.0.1'] });
    const feed = await open(world, { subscriptions: [ops] });
    await sweep(feed);
    world.sandbox.life.createPerson();
    await sweep(feed);
    const post = await one('POST');
    expect(spans.pathTo(post)).toEqual(['sweep people', 'publish people', 'process ops', 'POST']);
    // Node joins a header that comes twice with a comma.
    expect(world.receiver.received.map(({ headers }) => headers['traceparent'])).toEqual([traceparentOf(post)]);
  });

  it('telemetry: a batch is a trace of its own, which links to those of its events', async () => {
    const world = await chain();
    const batch = { size: 10, linger: '1s' } as const;
    const ops = webhook({ name: 'ops', url: world.receiver.url, secret: SECRET, allowHosts: ['127.0.0.1'], batch });
    const feed = await open(world, { subscriptions: [ops] });
    await sweep(feed);
    world.sandbox.life.createPerson();
    world.sandbox.life.createPerson();
    await sweep(feed);
    const [publish, process] = [await one('publish people'), await one('process ops')];
    expect(process.attributes['messaging.batch.message_count']).toBe(2);
    expect(process.links.map(({ context }) => context.spanId)).toEqual([publish.spanContext().spanId]);
    const post = await one('POST');
    expect(spans.pathTo(post)).toEqual(['process ops', 'POST']);
    expect(world.receiver.received.map(({ headers }) => headers['traceparent'])).toEqual([traceparentOf(post)]);
  });

  it('telemetry: derived events belong to the trace of their source, and a replay begins one of its own', async () => {
    const world = await chain();
    const promote = defineDerive({
      name: 'promote',
      emits: ['acme.person.met'],
      derive: () => ({ type: 'acme.person.met' }),
    });
    const greet = defineHandler({ name: 'greet', on: ['acme.*'], handle: () => undefined });
    const feed = await open(world, { subscriptions: [greet], derive: [promote] });
    await sweep(feed);
    world.sandbox.life.createPerson();
    await sweep(feed);
    const first = await one('process greet');
    expect(spans.pathTo(first)).toEqual([
      ...['sweep people', 'publish people', 'process promote'],
      ...['publish acme', 'process greet'],
    ]);
    const publish = await one('publish acme');
    await feed.replay({ subscription: 'greet', from: 'beginning' });
    const again = await eventually(() => {
      const [, second] = spans.named('process greet');
      if (second === undefined) throw new Error('not replayed yet');
      return second;
    });
    expect(traceOf(again)).not.toBe(traceOf(first));
    expect(again.links.map(({ context }) => context.spanId)).toEqual([publish.spanContext().spanId]);
  });

  it('telemetry: what a service does is no part of the span in which it was started; a shortcut is a trace of its own', async () => {
    const world = await chain();
    const greet = defineHandler({ name: 'greet', handle: () => undefined });
    const raw = { ...world.config('1h', redis.keys.prefix), telemetry: true, subscriptions: [greet] };
    const feed = await openChangefeed({ config: parseConfig(raw, { source: 'the test', redisUrl: redis.url }) });
    onTestFinished(() => feed.stop());
    await tracer.startActiveSpan('startup', async (span) => {
      await feed.start(['poll', 'dispatch', 'handle']);
      span.end();
    });
    expect(spans.pathTo(await one('sweep people'))).toEqual(['sweep people']);
    await feed.hint('people', [world.sandbox.life.editPerson()]);
    expect(spans.pathTo(await one('process greet'))).toEqual(['shortcut people', 'publish people', 'process greet']);
  });

  it('telemetry: a stop hands over the last spans, which the SDK exports in batches', async () => {
    const world = await chain();
    const feed = await open(world, {});
    await sweep(feed);
    expect(spans.handedOver()).toBe(0);
    await feed.stop();
    expect(spans.handedOver()).toBeGreaterThan(0);
  });

  it('telemetry: with queues, BullMQ writes spans of its own, to which an attempt links', async () => {
    const world = await chain();
    const greet = defineHandler({ name: 'greet', handle: () => undefined });
    const feed = await open(world, { telemetry: { queues: true }, subscriptions: [greet] });
    await sweep(feed);
    world.sandbox.life.createPerson();
    await sweep(feed);
    const [ours, theirs] = await eventually(() => {
      const found = spans.named('process greet');
      const pair = [
        found.find(({ instrumentationScope: { name } }) => name === 'crm-changefeed'),
        found.find(({ instrumentationScope: { name } }) => name === 'bullmq'),
      ];
      expect(pair).not.toContain(undefined);
      return pair;
    });
    expect(ours?.links.map(({ context }) => context)).toEqual([theirs?.spanContext()]);
  });
});
