import { expect, it, onTestFinished } from 'vitest';
import { launchCluster, type TestCluster } from '../support/redis-cluster.js';
import { RIGHT, runMainJob } from './main-job.js';

async function startCluster(): Promise<TestCluster> {
  const cluster = await launchCluster();
  onTestFinished(() => cluster.close());
  return cluster;
}

it('cluster: on three masters every change reaches the handler, in order', async () => {
  const cluster = await startCluster();
  expect(await runMainJob({ url: cluster.url, seed: 1, changes: 300 })).toEqual(RIGHT);
});
