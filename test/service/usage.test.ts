/** What a workspace used by day: in the process, in Redis, by the library, a command and the API. */
import { expect, it } from 'vitest';
import { openChangefeed } from '../../src/service/changefeed.js';
import { systemClock } from '../../src/kit/clock.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { createUsage } from '../../src/log/usage.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const cli = useCli();
const place = () => ({ redis: redis.redis, keys: redis.keys });
const off = { organization: false, memo: false, todo: false, history: false, activity: false };

it('usage: requests, rows of changed and unchanged pages, events and deliveries of a day, in a command, CSV and the API', async () => {
  const crm = await startOtherCrm();
  const workspace = { name: 'acme', baseUrl: crm.url, token: crm.token, lists: off, todos: { watch: false } };
  const handled: string[] = [];
  const raw = {
    workspaces: [workspace, { ...workspace, name: 'other', timeZone: 'Pacific/Kiritimati' }],
    subscriptions: [defineHandler({ name: 'all', on: ['crm.*'], handle: ({ id }) => void handled.push(id) })],
    http: { port: 0, tokens: { operate: 'operate-token-of-usage' } },
  };
  const feed = await openFeed(redis, raw, { http: true });
  await feed.start(['dispatch', 'handle']);
  const rows = crm.lists.people.length;
  const sweep = { lists: ['people'], workspace: 'acme' } as const;
  await feed.sweep(sweep);
  await feed.sweep(sweep);
  crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: '다른 이름' };
  await feed.sweep(sweep);
  await eventually(() => expect(handled).toHaveLength(1));
  const pages = Math.ceil(rows / 7);
  const expected = { requests: 3 * pages, records: 3 * rows, events: 1, deliveries: 1 };
  // Added after some seconds, without a stop.
  await eventually(async () => expect((await feed.usage()).workspaces[0]?.total).toMatchObject(expected));
  const { workspaces } = await feed.usage({ days: 2 });
  expect(workspaces.map(({ workspace: name, timeZone, days }) => [name, timeZone, days.length])).toEqual([
    ['acme', 'Asia/Seoul', 2],
    ['other', 'Pacific/Kiritimati', 2],
  ]);
  const [acme, other] = workspaces;
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Seoul' }).format(new Date());
  expect(acme?.days.map(({ date, requests }) => [date, requests]).at(-1)).toEqual([today, 3 * pages]);
  expect(acme!.total.bytes).toBeGreaterThan(rows * 20);
  expect(other?.total).toEqual({ requests: 0, records: 0, events: 0, deliveries: 0, bytes: 0 });

  const headers = { authorization: 'Bearer operate-token-of-usage' };
  const asked = await fetch(`${feed.pageUrl}/api/usage?workspace=acme&days=1`, { headers });
  expect(await asked.json()).toMatchObject({ workspaces: [{ workspace: 'acme', total: expected }] });

  const folder = await cli({
    'changefeed.config.json': { workspaces: raw.workspaces, redis: { prefix: redis.keys.prefix } },
  });
  const call = async (...args: string[]): Promise<string> =>
    (await folder.call(['usage', ...args], { REDIS_URL: redis.url })).stdout;
  expect(await call('--csv', '--days', '1', '--workspace', 'acme')).toMatch(
    new RegExp(
      `^\ufeffdate,requests,records,events,deliveries,bytes,workspace\r\n${today},${3 * pages},${3 * rows},1,1,\\d+,acme\r\n$`,
    ),
  );
  expect(await call('--days', '2')).toMatch(/requests +rows +events[^]*together +\d[^]*nothing was used in these days/);
  expect(JSON.parse(await call('--json')) as object).toMatchObject({ workspaces: [{ total: expected }, {}] });
  await expect(feed.usage({ days: 401 })).rejects.toThrow('a whole number from 1 to 400');
  await expect(feed.usage({ workspace: 'nobody' })).rejects.toThrow('There is no workspace "nobody"');
});

it('usage: what was counted is there after a stop, of every process, and kept for 400 days', async () => {
  const crm = await startOtherCrm();
  const raw = {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: off, todos: { watch: false } }],
    redis: { url: redis.url, prefix: redis.keys.prefix },
  };
  for (let n = 0; n < 2; n += 1) {
    const feed = await openChangefeed(raw);
    await feed.sweep();
    await feed.stop();
  }
  const [key = '', ...others] = await redis.redis.keys(redis.keys.used('acme', '*'));
  expect(others).toEqual([]);
  expect(Number(await redis.redis.hget(key, 'requests'))).toBe(2 * Math.ceil(crm.lists.people.length / 7));
  expect(await redis.redis.pttl(key)).toBeGreaterThan(399 * 86_400_000);
});

it('usage: a batch that Redis did not take is added with the next one, on its own day', async () => {
  let [now, fails] = [Date.parse('2026-11-29T23:30:00Z'), true];
  const broken = new Proxy(redis.redis, {
    get: (client, name) => {
      const value: unknown = Reflect.get(client, name);
      if (name === 'call' && fails) return () => Promise.reject(new Error('away'));
      return typeof value === 'function' ? (value.bind(client) as unknown) : value;
    },
  });
  let wake: () => void = () => undefined;
  const clock = {
    ...systemClock,
    now: () => now,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        wake = resolve;
        signal?.addEventListener('abort', () => reject(new Error('closed')));
      }),
  };
  await redis.redis.set(redis.keys.state('acme'), '{}');
  const used = createUsage({ ...place(), redis: broken, clock, timeZoneOf: () => 'UTC' });
  used.add('acme', { requests: 2, bytes: 10 });
  wake();
  await new Promise(setImmediate);
  [now, fails] = [now + 3_600_000, false];
  used.add('acme', { requests: 1 });
  await used.close();
  const of = (date: string) => redis.redis.hgetall(redis.keys.used('acme', date));
  expect([await of('2026-11-29'), await of('2026-11-30')]).toEqual([{ requests: '2', bytes: '10' }, { requests: '1' }]);
});
