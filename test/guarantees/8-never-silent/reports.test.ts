/** Guarantee 8: a feed that cannot poll reports it by an event of its own. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { openChangefeed, type Changefeed } from '../../../src/app/changefeed.js';
import { parseConfig } from '../../../src/config/parse.js';
import { eventually } from '../../support/eventually.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

describe('never silent: a refused token', () => {
  const redis = useRedis();

  /** A running feed that polls with a token that the API refuses. */
  async function refused(name: string, options: { reportsProblems: boolean }): Promise<Changefeed> {
    const crm = await startOtherCrm();
    const workspaces = [{ name, baseUrl: crm.url, token: 'another-token', lists: { people: { interval: '1s' } } }];
    const raw = { workspaces, redis: { prefix: redis.keys.prefix } };
    const config = parseConfig(raw, { source: 'the test', redisUrl: redis.url });
    const feed = await openChangefeed({ config, ...options });
    onTestFinished(() => feed.stop());
    await feed.start(['poll']);
    return feed;
  }
  async function eventTypes(feed: Changefeed): Promise<string[]> {
    const types: string[] = [];
    for await (const { event } of feed.tail({ from: '0', follow: false })) types.push(event.type);
    return types;
  }
  const problems = async (feed: Changefeed): Promise<string[]> =>
    (await feed.status()).problems.map(({ kind }) => kind);

  it(
    'never silent: is reported by one event, and by none without the reports (control)',
    { timeout: 60_000 },
    async () => {
      const [reporting, silent] = [
        await refused('reporting', { reportsProblems: true }),
        await refused('silent', { reportsProblems: false }),
      ];
      await eventually(async () => expect(await problems(silent)).toContain('token.refused'), { timeoutMs: 40_000 });
      await eventually(async () => expect(await eventTypes(reporting)).toContain('changefeed.token.refused'), {
        timeoutMs: 40_000,
      });
      expect((await eventTypes(reporting)).filter((type) => type === 'changefeed.token.refused')).toHaveLength(1);
      expect(await eventTypes(silent)).toEqual([]);
    },
  );
});
