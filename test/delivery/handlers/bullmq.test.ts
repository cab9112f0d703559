import { Queue, Worker, type Job, type QueueOptions } from 'bullmq';
import { afterEach, describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import { bullmq, bullmqSchema, openBullmq, type BullmqOptions } from '../../../src/delivery/handlers/bullmq/bullmq.js';
import type { Subscription } from '../../../src/delivery/handlers/handler.js';
import { eventually } from '../../support/eventually.js';
import { failureOf, handlerContext, sampleEvent } from '../../support/handler-fixtures.js';
import { startPrivateRedis, useRedis } from '../../support/redis.js';

const server = useRedis();
let closing: (() => Promise<void> | undefined)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

/** `prefix` keeps the queue among this test's keys. */
function subscribe(options: Partial<BullmqOptions> = {}): Subscription {
  const given = { name: 'jobs', queue: 'crm', redis: server.url, prefix: server.keys.prefix, ...options };
  const subscription = bullmq(given);
  closing.unshift(() => subscription.close?.());
  return subscription;
}

function theirQueue(options: Partial<QueueOptions> = {}): Queue {
  const connection = server.connect({ maxRetriesPerRequest: null });
  const queue = new Queue('crm', { connection, prefix: server.keys.prefix, ...options });
  closing.push(() => queue.close());
  return queue;
}

function work(handle: (job: Job<ChangeEvent>) => void): void {
  const connection = server.connect({ maxRetriesPerRequest: null });
  const run = (job: Job<ChangeEvent>): Promise<void> => {
    handle(job);
    return Promise.resolve();
  };
  const worker = new Worker<ChangeEvent>('crm', run, { connection, prefix: server.keys.prefix });
  closing.unshift(() => worker.close());
}

const send = async (subscription: Subscription, event = sampleEvent()): Promise<unknown> =>
  subscription.handle(event, handlerContext());

describe('bullmq handler', () => {
  it('bullmq handler: adds each event as a job with id, type and the whole event', async () => {
    const seen: unknown[] = [];
    work((job) => seen.push([job.id, job.name, job.data]));
    const event = sampleEvent();
    await send(subscribe(), event);
    await eventually(() => expect(seen).toEqual([[event.id, event.type, event]]));
  });

  it('bullmq handler: adds an event once while its job is stored', async () => {
    const subscription = subscribe();
    await send(subscription);
    await send(subscription);
    const queue = theirQueue();
    expect(await queue.getJobCountByTypes('wait', 'completed')).toBe(1);
    work(() => undefined);
    await eventually(async () => expect(await queue.getCompletedCount()).toBe(1));
    await send(subscription);
    expect(await queue.getJobCountByTypes('wait', 'active', 'completed')).toBe(1);
  });

  it('bullmq handler: applies the configured job name and options; by default, completed jobs are kept for a day', async () => {
    const job = {
      attempts: 5,
      backoff: { type: 'exponential', delay: 2_000 },
      priority: 3,
      removeOnComplete: true,
      removeOnFail: { count: 7 },
    } as const;
    await send(subscribe({ jobName: 'crm-change', job }));
    const added = await theirQueue().getJob(sampleEvent().id);
    expect([added?.name, added?.opts]).toMatchObject(['crm-change', job]);
    await send(subscribe(), sampleEvent('other'));
    const usual = await theirQueue().getJob(sampleEvent('other').id);
    expect(usual?.opts).toMatchObject({ removeOnComplete: { age: 86_400 }, removeOnFail: false });
  });

  it('bullmq handler: writes nothing but jobs to the queue', async () => {
    const queue = theirQueue({ streams: { events: { maxLen: 77 } } });
    const lengthOf = (): Promise<string | null> => server.redis.hget(queue.keys['meta'] ?? '', 'opts.maxLenEvents');
    await eventually(async () => expect(await lengthOf()).toBe('77'));
    await send(subscribe());
    expect(await lengthOf()).toBe('77');
  });
});

describe('bullmq handler: the Redis of the queue', () => {
  it('bullmq handler: uses REDIS_URL if redis is left out', async () => {
    const settings = bullmqSchema.parse({ name: 'jobs', queue: 'crm', prefix: server.keys.prefix });
    const subscription = bullmq.subscription(settings, openBullmq(settings, { REDIS_URL: server.url }));
    closing.unshift(() => subscription.close?.());
    await send(subscription);
    expect(await theirQueue().getWaitingCount()).toBe(1);
  });

  it('bullmq handler: fails while Redis is away and delivers when it is back', async () => {
    const own = await startPrivateRedis();
    const subscription = subscribe({ redis: own.url });
    await send(subscription);
    await own.kill();
    const error = await failureOf(send(subscription, sampleEvent('second')));
    expect(error.code).toBe('CF_REDIS_UNREACHABLE');
    await own.restart();
    await eventually(() => send(subscription, sampleEvent('second')));
  });

  it('bullmq handler: an unreachable Redis is reported with host and port, without the password', async () => {
    const error = await failureOf(send(subscribe({ redis: 'redis://:sesame@127.0.0.1:1/0' })));
    expect(error.message).toBe(
      'Bullmq "jobs": could not add to queue "crm" at 127.0.0.1:1: ECONNREFUSED. The event is tried again.',
    );
  });
});

describe('bullmq options', () => {
  it('bullmq options: require a Redis URL', () => {
    const settings = bullmqSchema.parse({ name: 'jobs', queue: 'crm' });
    expect(() => openBullmq(settings, {})).toThrow(
      expect.objectContaining({
        code: 'CF_CONFIG_INVALID',
        message:
          'redis of bullmq "jobs": found nothing, and no Redis URL in REDIS_URL either; allowed: the URL of the Redis that your workers use.',
      }),
    );
  });
});
