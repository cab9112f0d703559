/** A refused token over processes and restarts: one event, one end, and no other workspace is later. */
import { expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { eventually } from '../support/eventually.js';
import { fastClock } from '../support/fast-clock.js';
import { baselined, openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { loggedEvents, useRedis } from '../support/redis.js';

const redis = useRedis();

it(
  'token: a refusal is one event of several processes and their restarts, with what to do; so is its end',
  { timeout: 240_000 },
  async () => {
    const [crm, other] = [await startOtherCrm(), await startOtherCrm()];
    let token = crm.token;
    const lists = {
      people: { interval: '1s' },
      organization: false,
      memo: false,
      todo: false,
      history: false,
      activity: false,
    };
    const shared = { lists, todos: { watch: false } };
    const raw = {
      workspaces: [
        { name: 'acme', baseUrl: crm.url, token: () => token, ...shared },
        { name: 'other', baseUrl: other.url, token: other.token, ...shared },
      ],
    };
    const clock = fastClock(6);
    const open = async () => {
      const feed = await openFeed(redis, raw, { clock });
      await feed.start();
      return feed;
    };
    // A clock that runs so fast is not that of Redis.
    const reported = async (workspace = 'acme'): Promise<ChangeEvent[]> =>
      (await loggedEvents(redis, workspace)).filter(
        ({ type, data }) => !`${type} ${data.notice?.problem}`.includes('clock'),
      );
    const notices = async (): Promise<string[]> =>
      (await reported()).map(({ type, data }) => `${type} ${data.notice?.problem ?? ''}`.trim());
    const refused = 'changefeed.workspace.unauthorized';
    const feeds = [await open(), await open()];
    await baselined(feeds[0]!);

    crm.token = 'another-token';
    await eventually(async () => expect(await notices()).toEqual([refused]));
    const [{ data }] = (await reported()) as [ChangeEvent];
    expect(data.notice?.message).toMatch(/answered 401.*option "token"/);
    await feeds[0]!.stop();
    // Longer than a problem lives that no process sees.
    const restartedAtMs = clock.now();
    feeds.push(await open());
    await eventually(() => expect(clock.now() - restartedAtMs).toBeGreaterThan(60_000));
    expect(await notices()).toEqual([refused]);
    // It rests: a try of its list every 30 s. The other one is read every second.
    const [before, otherBefore] = [clock.now(), other.asked.length];
    await eventually(() => expect(other.asked.length - otherBefore).toBeGreaterThan(20));
    const passed = clock.now() - before;
    expect(await reported('other')).toEqual([]);
    expect(passed).toBeLessThan(90_000);

    token = crm.token;
    await eventually(async () =>
      expect(await notices()).toEqual([refused, 'changefeed.problem.over workspace.unauthorized']),
    );
    crm.lists.people[0]!['이름'] = '다른 이름';
    await eventually(async () => expect(await notices()).toContain('crm.person.updated'));
  },
);
