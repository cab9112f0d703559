import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDispatcher } from '../../src/delivery/dispatcher.js';
import { createHandlerPool } from '../../src/delivery/run/handler-pool.js';
import { Keys } from '../../src/redis/keys.js';
import { eventually } from '../support/eventually.js';
import { aSubscription, fanOutDeps } from '../support/fan-out.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { redisBinary } from '../support/private-redis.js';
import { startPrivateRedis } from '../support/redis.js';

describe.skipIf(redisBinary === undefined)('handlers: a stop without Redis', () => {
  it('handlers: a stop ends while Redis is away, although BullMQ waits for its connection', async () => {
    const server = await startPrivateRedis();
    // A client of ioredis itself: between two attempts to connect, it does not end when it is asked to.
    const connect = (): Redis => {
      const client = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 300_000 });
      onTestFinished(() => client.disconnect());
      return client.on('error', () => undefined);
    };
    const [redis, keys] = [connect(), new Keys()];
    let running = 0;
    const handle = async (_event: unknown, { signal }: { signal: AbortSignal }): Promise<void> => {
      running += 1;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const subscriptions = [aSubscription('out', handle)];
    const deps = { ...fanOutDeps({ redis, keys, connect }), subscriptions, stopGraceMs: 200 };
    const [dispatcher, pool] = [createDispatcher(deps), createHandlerPool(deps)];
    onTestFinished(() => deps.log.close());
    await Promise.all([dispatcher.start(), pool.start()]);
    await appendEvents({ redis, keys }, [changeEvent({ record: 'r1', sequence: 1 })]);
    await eventually(() => expect(running).toBe(1));

    await server.kill();
    await eventually(() => expect(redis.status).toBe('reconnecting'));
    await expect(pool.stop()).rejects.toMatchObject({ code: 'CF_STOP_TIMEOUT' });
  });
});
