import { expect, it, onTestFinished, vi } from 'vitest';
import { logOffset } from '../../src/cli/arguments.js';
import { BEFORE_ALL, parseBeginning } from '../../src/events/log-id.js';
import { changeEvent, fieldsOf } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { eventsOf, openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { handlerOf, OPERATE, OPERATOR } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const MIDNIGHT = { seoul: Date.UTC(2026, 10, 19, 15), angeles: Date.UTC(2026, 10, 20, 8) };

it('written dates: a place in the log without a zone is in the zone of the workspace, whatever the machine has', () => {
  vi.stubEnv('TZ', 'America/Los_Angeles');
  onTestFinished(() => void vi.unstubAllEnvs());
  const msOf = (text: string, zone: string) => Number(parseBeginning(text, zone)?.split('-')[0]) + 1;
  expect(msOf('2026-11-20', 'Asia/Seoul')).toBe(MIDNIGHT.seoul);
  expect(msOf('2026-11-20T00:00', 'Asia/Seoul')).toBe(MIDNIGHT.seoul);
  expect(msOf('2026-11-20', 'America/Los_Angeles')).toBe(MIDNIGHT.angeles);
  expect(msOf('2026-11-20T00:00+09:00', 'America/Los_Angeles')).toBe(MIDNIGHT.seoul);
  expect(parseBeginning('1970-01-01', 'Asia/Seoul')).toBe(BEFORE_ALL);
  for (const none of ['0206-01-01', '2026-02-30', '2026-11-20 09:00', '20 November 2026', 'lunch'])
    expect([none, parseBeginning(none, 'UTC')]).toEqual([none, undefined]);
});

it('written dates: tail, replay, `start` and the stream begin at midnight of each workspace', async () => {
  const crm = await startOtherCrm();
  const handled: string[] = [];
  const feed = await openFeed(
    redis,
    {
      workspaces: Object.entries({ seoul: 'Asia/Seoul', angeles: 'America/Los_Angeles' }).map(([name, timeZone]) => {
        return { name, timeZone, baseUrl: crm.url, token: crm.token };
      }),
      subscriptions: [{ ...handlerOf('s', undefined, handled), start: '2026-11-20' }],
      http: { port: 0, tokens: { operate: OPERATE } },
    },
    { http: true },
  );
  for (const name of ['seoul', 'angeles'])
    for (const [sequence, ms] of Object.values(MIDNIGHT)
      .flatMap((at) => [at - 1, at])
      .entries()) {
      const event = { ...changeEvent({ record: `${name} ${sequence}`, sequence: 1 }), source: `/workspaces/${name}` };
      await redis.redis.xadd(redis.keys.log(name), `${ms}-0`, ...fieldsOf(event));
    }
  const expected = ['angeles 3', 'seoul 1', 'seoul 2', 'seoul 3'];
  await feed.start(['dispatch', 'handle']);
  await eventually(() => expect(handled.toSorted()).toEqual(expected));
  const from = logOffset('2026-11-20', '--from');
  expect((await eventsOf(feed, undefined, from)).map(({ subject }) => subject).toSorted()).toEqual(expected);
  expect(await feed.replay({ subscription: 's', from, dryRun: true })).toMatchObject({ events: 4 });
  const answer = await fetch(`${feed.pageUrl}/events?from=2026-11-20&follow=false`, { headers: OPERATOR });
  const streamed = (await answer.text()).matchAll(/"subject":"(.*?)"/g);
  expect([...streamed].map(([, subject]) => subject).toSorted()).toEqual(expected);
  await expect(eventsOf(feed, undefined, 'lunch')).rejects.toMatchObject({ code: 'CF_USAGE' });
});

it('written dates: a baseline since a date begins at midnight of the workspace', async () => {
  const crm = await startOtherCrm();
  const times = [MIDNIGHT.seoul - 1, MIDNIGHT.seoul];
  crm.lists.people = times.map((ms) => ({ id: `p${ms}`, createdAt: new Date(ms).toISOString() }));
  const lists = { people: { baseline: { since: '2026-11-20' } } };
  const feed = await openFeed(redis, { workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists }] });
  await feed.sweep({ lists: ['people'] });
  expect((await eventsOf(feed, ['crm.*'])).map(({ subject }) => subject)).toEqual([`p${MIDNIGHT.seoul}`]);
});
