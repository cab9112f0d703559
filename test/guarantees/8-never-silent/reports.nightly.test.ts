/** Guarantee 8: a feed that cannot poll reports it by an event of its own. */
import { expect, it } from 'vitest';
import type { Changefeed } from '../../../src/actions/feed.js';
import { eventually } from '../../support/eventually.js';
import { eventsOf, openFeed } from '../../support/feed.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const redis = useRedis();

/** A running feed that polls with a token that the API refuses. */
async function refused(name: string, options: { reportsProblems: boolean }): Promise<Changefeed> {
  const crm = await startOtherCrm();
  const workspaces = [{ name, baseUrl: crm.url, token: 'another-token', lists: { people: { interval: '1s' } } }];
  const feed = await openFeed(redis, { workspaces }, options);
  await feed.start(['poll']);
  return feed;
}
const eventTypes = async (feed: Changefeed): Promise<string[]> => (await eventsOf(feed)).map(({ type }) => type);
const problems = async (feed: Changefeed): Promise<string[]> => (await feed.status()).problems.map(({ kind }) => kind);

it(
  'never silent: is reported by one event, and by none without the reports (control)',
  { timeout: 60_000 },
  async () => {
    const [reporting, silent] = [
      await refused('reporting', { reportsProblems: true }),
      await refused('silent', { reportsProblems: false }),
    ];
    await eventually(async () => expect(await problems(silent)).toContain('workspace.unauthorized'), {
      timeoutMs: 40_000,
    });
    await eventually(async () => expect(await eventTypes(reporting)).toContain('changefeed.workspace.unauthorized'), {
      timeoutMs: 40_000,
    });
    expect((await eventTypes(reporting)).filter((type) => type === 'changefeed.workspace.unauthorized')).toHaveLength(
      1,
    );
    expect(await eventTypes(silent)).toEqual([]);
  },
);
