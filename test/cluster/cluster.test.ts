import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Queue } from 'bullmq';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { scheduledJob } from '../../src/delivery/scheduled-job.js';
import { bullmq, type BullmqOptions } from '../../src/delivery/handlers/bullmq/bullmq.js';
import { openConnections } from '../../src/redis/connections.js';
import { freePort } from '../../src/redis/private/launch.js';
import { probeRedis, checkRedis } from '../../src/redis/probe.js';
import { Keys } from '../../src/redis/keys.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { launchCluster, type ClusterServer, type TestCluster } from '../support/redis-cluster.js';
import { startPrivateRedis } from '../support/redis.js';
import { runFanOut } from '../support/running-fan-out.js';
import { documentedRights } from './documented-rights.js';
import { RIGHT, runMainJob } from './main-job.js';

const messageOf = (url: string): Promise<string> =>
  checkRedis(url).then(
    () => 'nothing is wrong',
    (error: unknown) => (error as Error).message,
  );

describe('cluster', () => {
  let cluster: TestCluster;
  beforeAll(async () => (cluster = await launchCluster()));
  afterAll(() => cluster.close());

  it('on three masters every change reaches the handler, in order, with the rights that the docs list', async () => {
    for (const { redis } of cluster.masters) {
      await redis.call('ACL', 'SETUSER', 'changefeed', ...documentedRights(), '+cluster|slots', '+cluster|info');
    }
    const url = cluster.url.replace('redis+cluster://:test-password', 'redis+cluster://changefeed:password');

    expect(await runMainJob({ url, seed: 1, changes: 100, forgets: true })).toEqual(RIGHT);

    const left = await Promise.all(cluster.masters.map(({ redis }) => redis.keys('*{acme}*')));
    expect(left.flat()).toEqual([]);
    const [node = ''] = cluster.nodes;
    expect(await messageOf(`redis://:test-password@${node}`)).toBe(
      `Redis at ${node} is a Redis Cluster. Write redis+cluster://${node} in REDIS_URL (or "redis" in the configuration), or set redis: { cluster: ['${node}'] }.`,
    );
  });

  it('a message sends its digest, with the rights that the docs list', async () => {
    for (const { redis } of cluster.masters)
      await redis.call('ACL', 'SETUSER', 'changefeed', ...documentedRights(), '+cluster|slots', '+cluster|info');
    const url = cluster.url.replace('redis+cluster://:test-password', 'redis+cluster://changefeed:password');
    const connections = openConnections({ url });
    onTestFinished(() => connections.cut());
    const keys = new Keys(`test-${randomBytes(6).toString('hex')}`);
    const [single, digests]: [string[], number[]] = [[], []];
    const subscription = aSubscription('s', ({ subject }) => void single.push(subject), {
      mostPerMinute: 5,
      handleDigest: ({ count }) => void digests.push(count),
    });
    const redis = connections.general();
    const { queues } = await runFanOut({ redis, keys, connect: connections.patient }, [subscription]);
    const events = Array.from({ length: 30 }, (_, at) => changeEvent({ record: `p${at}`, sequence: 1 }));
    await appendEvents({ redis, keys }, events);
    await eventually(async () => {
      const job = await scheduledJob(queues.of('s'), 'acme');
      if (await job?.isDelayed()) await job?.promote();
      expect([single.length, digests]).toEqual([5, [25]]);
    });
  });

  it('a client that is ended before it has connected leaves no command unanswered', async () => {
    const connections = openConnections({ url: cluster.url });
    const unanswered = connections.patient().get('test-key');
    connections.cut();
    await expect(unanswered).rejects.toThrow('Connection is closed.');
  });

  it('a queue of the handler bullmq may be in it, with a prefix in braces', async () => {
    const options: BullmqOptions = { name: 'jobs', on: ['crm.*'], queue: 'crm', redis: cluster.url };
    expect(() => bullmq(options)).toThrow(
      `prefix of bullmq "jobs": found "bull"; allowed in a Redis Cluster: a prefix in braces`,
    );
    const subscription = bullmq({ ...options, prefix: '{bull}' });
    onTestFinished(async () => subscription.close?.());
    const event = changeEvent({ record: 'p1', sequence: 1 });
    await subscription.handle(event, {} as never);

    const connection = new Cluster(
      cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port })),
      {
        redisOptions: { password: 'test-password' },
      },
    );
    onTestFinished(() => connection.disconnect());
    const queue = new Queue('crm', { connection, prefix: '{bull}' });
    expect(await queue.getJobs()).toMatchObject([{ id: event.id, data: event }]);
  });
});

it('cluster: connecting fails, and does not wait without end, while a part of it is down', async () => {
  const cluster = await launchCluster();
  onTestFinished(() => cluster.close());
  const [lost, other] = cluster.masters as [ClusterServer, ClusterServer];
  const connections = openConnections({ url: cluster.url });
  onTestFinished(() => connections.cut());
  const redis = connections.patient();
  await redis.ping();
  await lost.kill();
  await eventually(async () => expect(await other.redis.cluster('INFO')).toContain('cluster_state:fail'));

  const ended = once(redis, 'end');
  redis.disconnect();
  await ended;
  // As BullMQ does after a blocking read that was not answered.
  await expect(redis.connect()).rejects.toThrow();
});

it('cluster: an address that it names and that cannot be reached is reported, because clients would wait for it', async () => {
  const cluster = await launchCluster();
  onTestFinished(() => cluster.close());
  const [one, other] = cluster.masters as [ClusterServer, ClusterServer];
  const port = await freePort();
  await one.redis.config('SET', 'cluster-announce-port', port);
  await eventually(async () => expect(JSON.stringify(await other.redis.cluster('SLOTS'))).toContain(String(port)));

  expect(await messageOf(cluster.url)).toBe(
    `Redis at ${cluster.nodes.join(', ')} cannot be used: the cluster names its server 127.0.0.1:${port} (connect ECONNREFUSED 127.0.0.1:${port}), and there it cannot be reached from here. Set cluster-announce-ip and cluster-announce-port on that server, and tls-cluster where connections are encrypted.`,
  );
});

it('cluster: what is wrong with its nodes is reported with their addresses and without the password', async () => {
  const nowhere = 'redis+cluster://:sesame@127.0.0.1:1,127.0.0.1:2';
  expect(await messageOf(nowhere)).toMatch(
    /^Redis at 127\.0\.0\.1:1, 127\.0\.0\.1:2 cannot be reached \(.*ECONNREFUSED/,
  );

  const { url, port } = await startPrivateRedis();
  const single = url.replace('redis://', 'redis+cluster://');
  expect(await messageOf(single)).toContain(`Redis at 127.0.0.1:${port} is one server and no Redis Cluster.`);

  const empty = await startPrivateRedis({
    settings: ['cluster-enabled yes', `cluster-port ${await freePort()}`, 'appendonly no'],
  });
  const unserved = empty.url.replace('redis://', 'redis+cluster://');
  expect(String(await probeRedis(unserved))).toContain('0 of the 16384 slots of the cluster are served');
});
