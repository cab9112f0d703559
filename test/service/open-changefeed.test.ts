import { describe, expect, it, onTestFinished } from 'vitest';
import { defineConfig, defineHandler, openChangefeed, parseConfig, type Changefeed } from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

/** What JavaScript can pass, where the compiler would object. */
const openAnything = openChangefeed as (given: unknown) => Promise<Changefeed>;

describe('opening a feed in a program', () => {
  const redis = useRedis();

  it.each<[string, (config: ReturnType<typeof defineConfig>) => Promise<Changefeed>]>([
    ['defineConfig alone', (config) => openChangefeed(config)],
    ['parseConfig as the option config', (config) => openChangefeed({ config: parseConfig(config) })],
  ])('opening a feed: %s', async (_form, open) => {
    const crm = await startOtherCrm();
    const handled: string[] = [];
    const feed = await open(
      defineConfig({
        workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: { people: { baseline: 'emit' } } }],
        subscriptions: [
          defineHandler({ name: 'own', on: ['crm.person.snapshot'], handle: ({ type }) => void handled.push(type) }),
        ],
        redis: { url: redis.url, prefix: redis.keys.prefix },
      }),
    );
    onTestFinished(() => feed.stop());
    await feed.start();
    await eventually(() => expect(handled).toContain('crm.person.snapshot'));
  });

  it('opening a feed: checks the configuration as a file is checked', async () => {
    const wrong = { workspaces: [{ name: 'acme', baseUrl: 'ftp://x', token: 't', lists: { peeple: {} } }] };
    for (const given of [wrong, { config: wrong }])
      await expect(openAnything(given)).rejects.toMatchObject({
        code: 'CF_CONFIG_INVALID',
        message: expect.stringMatching(
          /^openChangefeed: 2 problems:\n +workspaces\[0\]\.baseUrl: .*\n +workspaces\[0\]\.lists\.peeple: there is no such list \(did you mean "people"\?\)/,
        ) as string,
      });
    expect(() => parseConfig(wrong)).toThrow(/^parseConfig: 2 problems/);
  });

  it.each([undefined, null, 7, 'changefeed.config.ts', {}, { config: undefined }])(
    'opening a feed: %o is refused with what is allowed',
    async (given) => {
      await expect(openAnything(given)).rejects.toMatchObject({
        code: 'CF_CONFIG_INVALID',
        message: expect.stringContaining('workspaces') as string,
      });
    },
  );

  it('stopping a feed: what is under way ends, and every call says that it was stopped', async () => {
    const crm = await startOtherCrm();
    const feed = await openChangefeed({
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }],
      subscriptions: [defineHandler({ name: 'own', on: ['crm.*'], handle: () => undefined })],
      redis: { url: redis.url, prefix: redis.keys.prefix },
    });
    await feed.start(['dispatch', 'handle']);
    const following = feed.tail({ from: 'beginning' });
    const underWay = following.next();
    const ended = expect(underWay).rejects.toMatchObject({ code: 'CF_STOPPED' });
    await feed.stop();
    await ended;
    expect((await following.next()).done).toBe(true);
    await feed.stop();
    const calls: (() => Promise<unknown>)[] = [
      () => feed.start(),
      () => feed.sweep(),
      () => feed.waitUntilHandled({ timeoutMs: 1_000 }),
      () => feed.tail({ follow: false }).next(),
      () => feed.deadLetters.list({}),
      () => feed.deadLetters.retry(),
      () => feed.deliveries(),
      () => feed.describeSubscription('own'),
      () => feed.replay({ subscription: 'own', from: 'beginning' }),
      () => feed.stopReplay('own'),
      () => feed.try('own'),
      () => feed.verify('own', []),
      () => feed.snapshot('own'),
      () => feed.test('own', { run: true }),
      () => feed.skip('own'),
      () => feed.pause('own'),
      () => feed.resume('own'),
      () => feed.hint('people', ['p1']),
      () => feed.status(),
      () => feed.todos(),
      () => feed.audit(),
      () => feed.lists.explain('people', 'p1'),
      () => feed.lists.resync('people'),
      () => feed.forget('acme'),
      () => feed.erase({ workspace: 'acme', list: 'people', id: 'p1' }),
      () => feed.isStored('acme'),
      () => feed.storedSubscriptions(),
      () => feed.forgetSubscription('gone'),
    ];
    for (const call of calls) await expect(call(), String(call)).rejects.toMatchObject({ code: 'CF_STOPPED' });
    expect(feed.lists.names()).toContain('people');
  });
});
