import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addJobs, queueOptions, type Head } from '../../src/dispatch/queues.js';
import type { JobData } from '../../src/dispatch/ports.js';
import { systemClock } from '../../src/runtime/clock.js';
import { WORKSPACE } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();

/** A proxy that, once it is armed, passes the answer up to this text only, and then closes the connection. */
async function startCuttingProxy(after: string): Promise<{ url: string; arm: () => void; cuts: () => number }> {
  const target = new URL(test.url);
  let armed = false;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    near.pipe(far);
    far.on('data', (data) => {
      const end = data.indexOf(after) + after.length;
      if (!armed || end < after.length) return near.write(data);
      armed = false;
      cuts += 1;
      near.end(data.subarray(0, end), () => far.destroy());
      return true;
    });
    near.on('close', () => far.destroy());
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = new URL(test.url);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: url.href, arm: () => (armed = true), cuts: () => cuts };
}

describe('jobs that are added while the connection is lost', () => {
  it('jobs: those without a reply are added after the connection is back', async () => {
    const proxy = await startCuttingProxy('evt_1\r\n');
    const redis = new Redis(proxy.url, { maxRetriesPerRequest: null }).on('error', () => undefined);
    const queue = new Queue<JobData>('s', queueOptions('s', { keys: test.keys, redis }));
    onTestFinished(async () => {
      await queue.close();
      redis.disconnect();
    });
    queue.on('error', () => undefined);
    await queue.waitUntilReady();
    const ids = ['evt_1', 'evt_2', 'evt_3'];
    const heads = ids.map((id): Head => {
      const entry = { id, logId: '1-0', atMs: 0, kind: 'logged' as const, type: 'crm.person.updated' };
      return { workspace: WORKSPACE, group: id, entry, askedAtMs: systemClock.now() };
    });

    proxy.arm();
    await addJobs(queue, heads);

    expect(proxy.cuts()).toBe(1);
    const waiting = await queue.getWaiting();
    expect(waiting.map(({ id }) => id).toSorted()).toEqual(ids);
  });
});
