import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addJobs, queueOptions, type HeadJob } from '../../src/dispatch/queues.js';
import type { JobData } from '../../src/dispatch/ports.js';
import { startCuttingProxy } from '../support/cutting-proxy.js';
import { WORKSPACE } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();

describe('jobs that are added while the connection is lost', () => {
  it('jobs: those without a reply are added after the connection is back', async () => {
    const proxy = await startCuttingProxy(test, 'evt_1\r\n');
    const redis = new Redis(proxy.url, { maxRetriesPerRequest: null }).on('error', () => undefined);
    const queue = new Queue<JobData>('s', queueOptions('s', { keys: test.keys, redis }));
    onTestFinished(async () => {
      await queue.close();
      redis.disconnect();
    });
    queue.on('error', () => undefined);
    await queue.waitUntilReady();
    const ids = ['evt_1', 'evt_2', 'evt_3'];
    const heads = ids.map((id): HeadJob => {
      const entry = { id, logId: '1-0', atMs: 0, kind: 'logged' as const, type: 'crm.person.updated' };
      return { workspace: WORKSPACE, group: id, entry };
    });

    proxy.arm();
    await addJobs(queue, heads);

    expect(proxy.cuts()).toBe(1);
    const waiting = await queue.getWaiting();
    expect(waiting.map(({ id }) => id).toSorted()).toEqual(ids);
  });
});
