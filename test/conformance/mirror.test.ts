import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, inject } from 'vitest';
import { openChangefeed } from '../../src/service/changefeed.js';
import { parseConfig } from '../../src/config/parse.js';
import { freePort } from '../../src/redis/private/launch.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import type { Target } from '../support/read-api.js';
import { readApiContract } from './read-api-contract.js';

const prefix = `test-${randomBytes(6).toString('hex')}`;
const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

async function mirror(): Promise<Target> {
  const redisUrl = inject('redisUrl');
  const redis = new Redis(redisUrl);
  closers.push(async () => {
    for await (const keys of redis.scanStream({ match: `${prefix}:*` })) {
      if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]));
    }
    redis.disconnect();
  });
  const sandbox = createSandbox({ people: 60, limit: null });
  closers.push(() => sandbox.stop());
  const upstream = await sandbox.start();
  const port = await freePort();
  const budget = { requests: 10_000, perSeconds: 1 };
  const raw = {
    workspaces: [{ name: 'acme', baseUrl: upstream.url, token: upstream.token, budget }],
    serve: { port, token: 'mirror-token-7305918264' },
    redis: { prefix },
  };
  const feed = await openChangefeed({ config: parseConfig(raw, { source: 'the test', redisUrl }) });
  closers.push(() => feed.stop());
  await feed.start(['serve']);
  await feed.sweep();
  return { url: `http://127.0.0.1:${port}`, token: 'mirror-token-7305918264' };
}

readApiContract('the mirror', { strict: true, open: mirror });
