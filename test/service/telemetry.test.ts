import { createRequire } from 'node:module';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { eventually } from '../support/eventually.js';
import { useChain } from '../support/chain.js';
import { openFeed } from '../support/feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const chain = useChain();

/** An SDK sets up the API that bullmq-otel has; it is reached from there. */
interface Api {
  trace: { setGlobalTracerProvider(provider: object): boolean; disable(): void; wrapSpanContext(of: object): object };
}
const { resolve } = createRequire(import.meta.url);
const { trace } = createRequire(resolve('bullmq-otel'))('@opentelemetry/api') as Api;

function recordedSpans(): string[] {
  const names: string[] = [];
  const startSpan = (name: string): object => {
    names.push(name);
    return trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 0 });
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) });
  onTestFinished(() => trace.disable());
  return names;
}

async function handleOne(more: object): Promise<void> {
  const world = await chain();
  const handled: string[] = [];
  const greet = defineHandler({ name: 'greet', handle: ({ id }) => void handled.push(id) });
  const raw = { ...world.config('1h', redis.keys.prefix), ...more, subscriptions: [greet] };
  const feed = await openFeed(redis, raw);
  await feed.start(['dispatch', 'handle']);
  await feed.sweep({ lists: ['people'] });
  world.sandbox.life.createPerson();
  await feed.sweep({ lists: ['people'] });
  await eventually(() => expect(handled).toHaveLength(1));
  await feed.stop();
}

describe('telemetry', () => {
  it('telemetry: BullMQ records its spans where the option is true, and nothing by default', async () => {
    const names = recordedSpans();
    await handleOne({});
    expect(names).toEqual([]);
    await handleOne({ telemetry: true });
    expect(names).toContain('process greet');
  });
});
