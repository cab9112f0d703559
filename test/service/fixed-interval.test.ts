import { expect, it, onTestFinished } from 'vitest';
import type { Changefeed } from '../../src/service/changefeed.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { eventually } from '../support/eventually.js';
import { fastClock } from '../support/fast-clock.js';
import { eventsOf, openFeed } from '../support/feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();

/** The memos of a sandbox, swept by a service once in ten minutes, with a shortcut every ten seconds. Returns after the first sweep. */
async function sweptSeldom(): Promise<{ sandbox: Sandbox; feed: Changefeed; sweeps: () => Promise<string | null> }> {
  const sandbox = createSandbox({ people: 60, limit: null });
  const { url, token } = await sandbox.start();
  onTestFinished(() => sandbox.stop());
  const off = Object.fromEntries(
    ['people', 'organization', 'todo', 'history', 'activity'].map((list) => [list, { enabled: false }]),
  );
  const lists = { ...off, memo: { interval: '10m' } };
  const raw = { workspaces: [{ name: 'acme', baseUrl: url, token, lists }] };
  const feed = await openFeed(redis, raw, { clock: fastClock(10) });
  const sweeps = async (): Promise<string | null> => {
    const { workspaces } = await feed.status();
    return workspaces[0]!.lists.find(({ list }) => list === 'memo')?.lastSweep?.completedAt ?? null;
  };
  await feed.start(['poll']);
  await eventually(async () => expect(await sweeps()).not.toBeNull());
  return { sandbox, feed, sweeps };
}

const created = async (feed: Changefeed): Promise<number> =>
  (await eventsOf(feed)).filter(({ type }) => type === 'crm.memo.created').length;

it('fixed interval: the tail finds a new record while the list waits for its next sweep', async () => {
  const { sandbox, feed, sweeps } = await sweptSeldom();
  const before = await sweeps();
  sandbox.life.createMemo();
  await eventually(async () => expect(await created(feed)).toBe(1));
  expect(await sweeps()).toBe(before);
});

it('fixed interval: a sweep that a person asks for gets a list that waits', async () => {
  const { feed, sweeps } = await sweptSeldom();
  const before = await sweeps();
  const [swept] = await feed.sweep({ lists: ['memo'] });
  expect(swept).toMatchObject({ list: 'memo', outcome: 'complete' });
  expect(await sweeps()).not.toBe(before);
});
