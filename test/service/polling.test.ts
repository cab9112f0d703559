/** When a running service sweeps which list. */
import { expect, it } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import type { ListStatus } from '../../src/ops/watch/status.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { eventually } from '../support/eventually.js';
import { fastClock } from '../support/fast-clock.js';
import { eventsOf, openFeed } from '../support/feed.js';
import { cursorAt, startOtherCrm, type OtherCrm, type OtherRecord } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';
import { served } from '../support/sandbox.js';

const redis = useRedis();
const off = (...lists: string[]): object => Object.fromEntries(lists.map((list) => [list, false]));

it('automatic: lists are swept again and again, except within their interval', async () => {
  const { url, token } = (await served({ people: 60 })).target;
  const lists = { ...off('memo', 'todo', 'history', 'activity'), organization: { interval: '1h' } };
  const feed = await openFeed(redis, { workspaces: [{ name: 'acme', baseUrl: url, token, lists }] });
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

/** The memos of a sandbox, swept by a service once in ten minutes, with a shortcut every ten seconds. Returns after the first sweep. */
async function sweptSeldom(): Promise<{ sandbox: Sandbox; feed: Changefeed; sweeps: () => Promise<string | null> }> {
  const { sandbox, target } = await served({ people: 60 });
  const lists = { ...off('people', 'organization', 'todo', 'history', 'activity'), memo: { interval: '10m' } };
  const workspace = { name: 'acme', baseUrl: target.url, token: target.token, lists };
  const feed = await openFeed(redis, { workspaces: [workspace] }, { clock: fastClock(10) });
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

const PER_PAGE = 7;
const [LARGE, SMALL] = [60, 8];

function grow(crm: OtherCrm, list: keyof OtherCrm['lists'], pages: number): void {
  const [form] = crm.lists[list] as [OtherRecord];
  crm.lists[list] = Array.from({ length: pages * PER_PAGE }, (_, n) => ({ ...form, id: `${list}-${n}` }));
}

it('first sweep: a large list is not held up by the others, which are swept again meanwhile', async () => {
  const crm = await startOtherCrm();
  grow(crm, 'people', LARGE);
  const others = ['organization', 'memo', 'todo', 'history', 'activity'] as const;
  for (const list of others) grow(crm, list, SMALL);
  // So few that a request of each list is always waiting, however slow the machine is.
  const budget = { requests: 20, perSeconds: 1 };
  const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token, budget }];
  const feed = await openFeed(redis, { workspaces });
  await feed.start(['poll']);
  const last = cursorAt((LARGE - 1) * PER_PAGE);
  const requests = await eventually(() => {
    const at = crm.asked.findIndex(({ list, cursor }) => list === 'people' && cursor === last);
    expect(at).not.toBe(-1);
    return at;
  });
  // With an equal part for each of the six lists, it takes six times the pages of the large one.
  expect(requests).toBeLessThan(4 * LARGE + others.length * SMALL);
});
