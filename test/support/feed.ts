/** The product as a library, on the Redis of a test. */
import { expect, onTestFinished } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import { openChangefeed, type ChangefeedOptions } from '../../src/service/changefeed.js';
import type { ListInput } from '../../src/config/schema.js';
import { parseConfig } from '../../src/config/parse.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Clock } from '../../src/kit/clock.js';
import { eventually, type EventuallyOptions } from './eventually.js';
import type { OtherCrm } from './other-crm.js';
import type { TestRedis } from './redis.js';

export async function openFeed(
  { url, keys }: Pick<TestRedis, 'url' | 'keys'>,
  raw: object,
  options: Omit<ChangefeedOptions, 'config'> = {},
): Promise<Changefeed> {
  const given = { redis: { prefix: keys.prefix }, ...raw };
  const config = parseConfig(given, { source: 'the test', redisUrl: url });
  const feed = await openChangefeed({ config, ...options });
  onTestFinished(() => feed.stop());
  return feed;
}

export async function baselined(feed: Changefeed, options?: EventuallyOptions): Promise<void> {
  await eventually(async () => {
    const lists = (await feed.status()).workspaces.flatMap((one) => one.lists);
    expect(lists.filter(({ enabled, baselineAt }) => enabled && baselineAt === null)).toEqual([]);
  }, options);
}

export async function eventsOf(feed: Changefeed, types?: readonly string[], from = '0'): Promise<ChangeEvent[]> {
  const events: ChangeEvent[] = [];
  for await (const { event } of feed.tail({ from, follow: false, types })) events.push(event);
  return events;
}

export interface FeedOptions {
  redis: TestRedis;
  list?: BuiltInList;
  clock?: Clock;
}

/**
 * Returns a function that opens the product, sweeps one list completely, stops, and returns the events that it added to the log.
 * Each call opens a new instance of the product on the same Redis. Sweeps follow each other at once, so removals do not wait for time to
 * pass (`removals.after`), unless a clock is given.
 */
export function sweepInNewLives({ redis, list = 'people', clock }: FeedOptions) {
  let from = '0';
  return async (crm: OtherCrm, options: ListInput = {}): Promise<ChangeEvent[]> => {
    const removals = { ...(clock === undefined && { after: '0s' as const }), ...options.removals };
    const lists = { [list]: { ...options, removals } };
    const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists }];
    const feed = await openFeed(redis, { workspaces }, clock === undefined ? {} : { clock });
    const events: ChangeEvent[] = [];
    try {
      expect(await feed.sweep({ lists: [list] })).toMatchObject([{ outcome: 'complete' }]);
      for await (const { logId, event } of feed.tail({ from, follow: false })) {
        events.push(event);
        from = logId;
      }
    } finally {
      await feed.stop();
    }
    return events;
  };
}

export function summaryOf({ type, subject, data }: ChangeEvent): string {
  return [type.split('.')[2], subject, ...data.changes.map(({ field }) => field)].join(' ');
}
