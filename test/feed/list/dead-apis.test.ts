/** A process polls many workspaces. What the API of one of them does delays no other. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { eventsOf, openFeed } from '../../support/feed.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

async function startSilentApi(): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const server = createServer(() => (asked += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

const redis = useRedis();

it('fairness: the silent APIs of twenty workspaces delay no other workspace', async () => {
  const [silent, crm] = [await startSilentApi(), await startOtherCrm()];
  const dead = Array.from({ length: 20 }, (_, nth) => ({ name: `dead-${nth}`, baseUrl: silent.url, token: 'x' }));
  const lists = { people: { interval: '1s' } };
  const feed = await openFeed(redis, {
    workspaces: [...dead, { name: 'alive', baseUrl: crm.url, token: crm.token, lists }],
  });
  await feed.start(['poll']);
  const alive = async () => (await feed.status()).workspaces.find(({ name }) => name === 'alive');
  await eventually(
    async () => expect((await alive())?.lists.every(({ baselineAt }) => baselineAt !== null)).toBe(true),
    {
      timeoutMs: 30_000,
    },
  );
  expect(silent.asked()).toBeGreaterThanOrEqual(dead.length);
  crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: '새 이름', '수정 날짜': new Date().toISOString() };
  await eventually(
    async () =>
      expect((await eventsOf(feed)).filter(({ type }) => type.startsWith('crm.')).map(({ type }) => type)).toEqual([
        'crm.person.updated',
      ]),
    { timeoutMs: 30_000 },
  );
});
