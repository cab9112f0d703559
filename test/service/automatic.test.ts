import { expect, it, onTestFinished } from 'vitest';
import type { ListStatus } from '../../src/ops/status.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();

it('automatic: lists are swept again and again, except within their interval', async () => {
  const sandbox = createSandbox({ people: 60, limit: null });
  const { url, token } = await sandbox.start();
  onTestFinished(() => sandbox.stop());
  const off = Object.fromEntries(['memo', 'todo', 'history', 'activity'].map((list) => [list, { enabled: false }]));
  const lists = { ...off, organization: { interval: '1h' } };
  const raw = { workspaces: [{ name: 'acme', baseUrl: url, token, lists }] };
  const feed = await openFeed(redis, raw);
  const listsNow = async (): Promise<Record<string, ListStatus>> => {
    const { workspaces } = await feed.status();
    return Object.fromEntries(workspaces[0]!.lists.map((list) => [list.list, list]));
  };

  await feed.start(['poll']);
  const first = await eventually(async () => {
    const now = await listsNow();
    expect([now['people']?.lastSweep, now['organization']?.lastSweep]).not.toContain(null);
    return now;
  });
  await eventually(async () => {
    const { people } = await listsNow();
    expect(people?.lastSweep?.completedAt).not.toBe(first['people']?.lastSweep?.completedAt);
  });

  const { people, organization } = await listsNow();
  expect(organization?.lastSweep).toEqual(first['organization']?.lastSweep);
  expect([people?.intervalMs, organization?.intervalMs]).toEqual([null, 3_600_000]);
  expect(people?.freshness?.sweepMs).toBe(people?.lastSweep?.tookMs);
  await eventually(async () => expect((await feed.status()).workspaces[0]!.budget.used).toBeGreaterThan(0));
});
