/** A field that another system rewrites on most rows: the feed says so, with what to do, and when it is over. */
import { expect, it } from 'vitest';
import type { ListInput } from '../../../src/config/schema.js';
import { eventsOf, openFeed } from '../../support/feed.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const redis = useRedis();

it('restless: a field that changes on most rows in each sweep is a problem until the rules name it', async () => {
  const crm = await startOtherCrm();
  crm.lists.people = Array.from({ length: 12 }, (_, n) => ({ id: `p${n}`, 이름: `사람 ${n}`, constructor: 0 }));
  const sweptWith = async (people: ListInput) => {
    const lists = { people: { enabled: true, ...people } };
    const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists }];
    const feed = await openFeed(redis, { workspaces });
    crm.lists.people = crm.lists.people.map((row, n) => ({
      ...row,
      constructor: Number(row['constructor']) + 1,
      이름: n === 0 ? crypto.randomUUID() : row['이름'],
    }));
    await feed.sweep({ lists: ['people'] });
    const { problems } = await feed.status();
    const classes = new Set((await eventsOf(feed)).slice(-12).map(({ data }) => data.class));
    await feed.stop();
    return { found: problems.filter(({ kind }) => kind === 'list.restless'), classes };
  };
  await sweptWith({});
  for (const times of [1, 2]) expect({ times, ...(await sweptWith({})) }).toMatchObject({ times, found: [] });
  const { found } = await sweptWith({});
  expect(found).toMatchObject([{ severity: 'warning', list: 'people', subject: 'list:people' }]);
  expect(found[0]?.message).toMatch(
    /^Workspace "acme", list "people": most rows are edited again and again in "constructor" \(3×, 100 %\)\. .*"refreshed" or "ignore"/,
  );
  expect(await sweptWith({ refreshed: ['constructor'] })).toEqual({
    found: [],
    classes: new Set(['refreshed', 'edited']),
  });
});
