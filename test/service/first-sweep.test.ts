import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { cursorAt, startOtherCrm, type OtherCrm, type OtherRecord } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();

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
  const workspace = { name: 'acme', baseUrl: crm.url, token: crm.token, budget };
  const raw = { workspaces: [workspace] };
  const feed = await openFeed(redis, raw);
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
