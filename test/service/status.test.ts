import { expect, it } from 'vitest';
import { openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();

it('status: a damaged value of one list is named as its failure, and the other lists are shown', async () => {
  const crm = await startOtherCrm();
  const raw = {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, budget: { requests: 10_000, perSeconds: 1 } }],
  };
  const feed = await openFeed(test, raw);
  await feed.sweep({ lists: ['people', 'organization'] });
  const damaged = test.keys.sweep('acme', 'people');
  await test.redis.hset(damaged, 'lastSweep', 'damaged-contents');

  const { workspaces, problems } = await feed.status();

  const lists = workspaces[0]!.lists;
  expect(lists.map(({ list }) => list)).toEqual(['people', 'organization', 'memo', 'todo', 'history', 'activity']);
  expect(lists[0]).toMatchObject({ lastSweep: null, failure: { code: 'CF_STATE_UNREADABLE' } });
  expect(lists[1]).toMatchObject({ lastSweep: { counts: { seen: crm.lists.organization.length } }, failure: null });
  const problem = problems.find(({ subject }) => subject === 'list:people');
  expect(problem).toMatchObject({ kind: 'sweep.failed', severity: 'error', list: 'people' });
  expect(problem?.message).toContain(damaged);
  expect(problem?.message).not.toContain('damaged-contents');
});

it.each([
  ['of the feed', 'health', ':sub:{ops}:health'],
  ['of BullMQ', 'ops:failed', ':sub:{ops}:ops:*"'],
])('status: a key %s with another type is named, and the other subscriptions are shown', async (_, name, named) => {
  const crm = await startOtherCrm();
  const raw = {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }],
    subscriptions: ['ops', 'rest'].map((name) => ({ handler: 'ndjson', name, path: '/dev/null' })),
  };
  const feed = await openFeed(test, raw);
  await test.redis.set(`${test.keys.prefix}:sub:{ops}:${name}`, 'secret-contents');

  const { subscriptions, problems } = await feed.status();

  expect(subscriptions.map(({ name, unreadable }) => [name, unreadable === null])).toEqual([
    ['ops', false],
    ['rest', true],
  ]);
  const problem = problems.find(({ subject }) => subject === 'subscription:ops');
  expect(problem).toMatchObject({ kind: 'subscription.failing', severity: 'error' });
  expect(problem?.message).toContain(named);
  expect(problem?.message).toContain('RENAME');
  expect(problem?.message).not.toContain('secret-contents');
});
