import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../src/redis/private/port.js';
import { probeRedis, checkRedis } from '../../src/redis/probe.js';
import { launchCluster } from '../support/redis-cluster.js';
import { startPrivateRedis } from '../support/redis.js';
import { documentedRights } from './documented-rights.js';
import { RIGHT, runMainJob } from './main-job.js';

const messageOf = (url: string): Promise<string> =>
  checkRedis(url).then(
    () => 'nothing is wrong',
    (error: unknown) => (error as Error).message,
  );

it('cluster: on three masters every change reaches the handler, in order, with the rights that the docs list', async () => {
  const cluster = await launchCluster();
  onTestFinished(() => cluster.close());
  for (const { redis } of cluster.masters) {
    await redis.call('ACL', 'SETUSER', 'changefeed', ...documentedRights(), '+cluster|slots', '+cluster|info');
  }
  const url = cluster.url.replace('redis+cluster://:test-password', 'redis+cluster://changefeed:password');

  expect(await runMainJob({ url, seed: 1, changes: 150, forgets: true })).toEqual(RIGHT);

  // Nothing of the workspace is left, on any server.
  const left = await Promise.all(cluster.masters.map(({ redis }) => redis.keys('*{acme}*')));
  expect(left.flat()).toEqual([]);
  // A server of it, given as if it were the only one.
  const [node = ''] = cluster.nodes;
  expect(await messageOf(`redis://:test-password@${node}`)).toBe(
    `Redis at ${node} is a Redis Cluster. Write redis+cluster://${node} in REDIS_URL (or "redis" in the configuration), or set redis: { cluster: ['${node}'] }.`,
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
