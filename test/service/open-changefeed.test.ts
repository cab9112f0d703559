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
});
