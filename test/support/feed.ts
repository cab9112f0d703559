/** The product as a library, with one workspace on the independent server of other-crm.ts. */
import { expect } from 'vitest';
import { openChangefeed } from '../../src/app/changefeed.js';
import type { ListInput } from '../../src/config/schema.js';
import { parseConfig } from '../../src/config/parse.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Clock } from '../../src/runtime/clock.js';
import type { OtherCrm } from './other-crm.js';
import type { TestRedis } from './redis.js';

export interface FeedOptions {
  redis: TestRedis;
  /** @defaultValue people */
  list?: BuiltInList;
  /** @defaultValue the system's */
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
    const raw = { workspaces, redis: { prefix: redis.keys.prefix } };
    const config = parseConfig(raw, { source: 'the test', redisUrl: redis.url });
    const feed = await openChangefeed({ config, ...(clock !== undefined && { clock }) });
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

/** `updated p5 이름`: verb, subject and changed fields. */
export function summaryOf({ type, subject, data }: ChangeEvent): string {
  return [type.split('.')[2], subject, ...data.changes.map(({ field }) => field)].join(' ');
}
