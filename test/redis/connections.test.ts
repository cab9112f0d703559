import { Queue, Worker } from 'bullmq';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openConnections } from '../../src/redis/connections.js';
import { Keys } from '../../src/redis/keys.js';
import { createLogReader } from '../../src/log/event-log.js';
import { eventually } from '../support/eventually.js';
import { changeEvent, fieldsOf } from '../support/events.js';
import { redisBinary, type PrivateRedis } from '../support/private-redis.js';
import { startPrivateRedis } from '../support/redis.js';
import { startRedisProxy, type RedisProxy } from '../support/redis-proxy.js';

interface Behind {
  redis: PrivateRedis;
  proxy: RedisProxy;
  connections: ReturnType<typeof openConnections>;
}

describe.skipIf(redisBinary === undefined)('redis connections', () => {
  async function behindProxy(limits = { commandTimeoutMs: 1_000, silenceMs: 3_000 }): Promise<Behind> {
    const redis = await startPrivateRedis();
    const proxy = await startRedisProxy(redis.url);
    const connections = openConnections({ url: proxy.url, limits });
    onTestFinished(() => connections.cut());
    return { redis, proxy, connections };
  }

  it('redis connections: a command on a connection that fell silent fails, and later commands succeed', async () => {
    const { proxy, connections } = await behindProxy();
    const redis = connections.general();
    expect(await redis.set('a', 'before')).toBe('OK');
    proxy.fallSilent();
    await expect(redis.get('a')).rejects.toThrow('Command timed out');
    expect(await eventually(() => redis.get('a'))).toBe('before');
    expect(proxy.accepted).toBe(2);
  });

  it('redis connections: without a limit for silence, a connection that fell silent stays silent (control)', async () => {
    const { proxy, connections } = await behindProxy({ commandTimeoutMs: 500, silenceMs: 600_000 });
    const redis = connections.general();
    await redis.set('a', 'before');
    proxy.fallSilent();
    for (let attempt = 0; attempt < 8; attempt++) await expect(redis.get('a')).rejects.toThrow('Command timed out');
    expect(proxy.accepted).toBe(1);
  });

  it('redis connections: a blocking read of the log detects a silent peer and continues', async () => {
    const { redis, proxy, connections } = await behindProxy();
    const keys = new Keys();
    const general = connections.general();
    const reader = createLogReader({ redis: general, keys, connect: connections.patient });
    onTestFinished(() => reader.close());
    const signal = new AbortController().signal;
    const fields = fieldsOf(changeEvent({ record: 'r1', sequence: 1 }));
    const first = await general.xadd(keys.log('acme'), '*', ...fields);
    const waiting = reader.waitForMore('acme', first ?? '', 2_000, signal);
    await eventually(() => expect(proxy.accepted).toBe(2));
    proxy.fallSilent();
    const direct = openConnections({ url: redis.url });
    onTestFinished(() => direct.cut());
    await direct.general().xadd(keys.log('acme'), '*', ...fields);
    expect(await waiting).toBe(true);
  });

  it('redis connections: a worker whose connection fell silent takes jobs again', async () => {
    const { redis, proxy, connections } = await behindProxy();
    const done: unknown[] = [];
    const take = ({ name }: { name: string }): Promise<void> => Promise.resolve(void done.push(name));
    const worker = new Worker('jobs', take, { connection: connections.patient(), drainDelay: 1 });
    worker.on('error', () => undefined);
    const direct = openConnections({ url: redis.url });
    onTestFinished(() => direct.cut());
    const queue = new Queue('jobs', { connection: direct.patient() });
    await queue.add('before', {});
    await eventually(() => expect(done).toEqual(['before']));
    proxy.fallSilent();
    await queue.add('after', {});
    await eventually(() => expect(done).toEqual(['before', 'after']));
    connections.cut();
    await worker.close();
  });

  it.each(['SIGSTOP', 'SIGKILL'] as const)(
    'redis connections: cut while Redis is away (%s), every command fails, also those already sent',
    async (signal) => {
      const { redis, proxy, connections } = await behindProxy({ commandTimeoutMs: 60_000, silenceMs: 500 });
      const patient = connections.patient();
      await patient.ping();
      process.kill(redis.pid, signal);
      const waiting = [patient.get('a'), patient.xread('BLOCK', 0, 'STREAMS', 's', '$')];
      const outcomes = Promise.allSettled(waiting);
      // The first connection is closed and a second one is being opened: the commands sent over the first wait for it.
      await eventually(() => expect(proxy.accepted).toBeGreaterThan(1));
      connections.cut();
      expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await expect(connections.patient().get('a')).rejects.toThrow('Connection is closed');
    },
  );

  it('redis connections: a connection to a server that became a replica is opened again', async () => {
    const { redis, proxy, connections } = await behindProxy();
    const general = connections.general();
    await general.ping();
    const direct = openConnections({ url: redis.url });
    onTestFinished(() => direct.cut());
    await direct.general().replicaof('127.0.0.1', 1);
    await expect(general.set('a', '1')).rejects.toThrow('READONLY');
    await direct.general().replicaof('NO', 'ONE');
    await eventually(async () => expect(await general.set('a', '2')).toBe('OK'));
    expect(proxy.accepted).toBe(2);
  });
});
