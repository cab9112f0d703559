/** A page that is larger than one commit may be, over real HTTP and a real Redis. */
import { expect, it } from 'vitest';
import { eventsOf, openFeed } from '../../support/feed.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const redis = useRedis();

it('large page: nothing of it is written, the sweep is incomplete, and a problem says what to do', async () => {
  const crm = await startOtherCrm();
  const feed = await openFeed(redis, {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: { people: { baseline: 'emit' } } }],
  });
  const serve = (records: number): void => {
    const peopleList = Array.from({ length: records }, (_, n) => ({ id: `p${n}` }));
    crm.fault = (list) => (list === 'people' ? { body: { success: true, data: { peopleList } } } : undefined);
  };
  const sweep = async () => (await feed.sweep({ lists: ['people'] }))[0];

  serve(1_001);
  expect(await sweep()).toMatchObject({ outcome: 'incomplete', error: { cause: { code: 'CF_PAGE_MALFORMED' } } });
  expect(await eventsOf(feed)).toEqual([]);
  const { problems } = await feed.status();
  expect(problems.find(({ kind }) => kind === 'sweep.failed')?.message).toMatch(
    /expected at most 1000 records, found 1001\. .*ask its operator for smaller pages, or set lists\.people\.enabled to false/,
  );

  serve(1_000);
  expect(await sweep()).toMatchObject({ outcome: 'complete' });
  expect(await eventsOf(feed)).toHaveLength(1_000);
});
