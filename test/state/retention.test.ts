import { describe, expect, it } from 'vitest';
import { trimLog, type TrimOptions } from '../../src/state/retention.js';
import { useRedis } from '../support/redis.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = Date.parse('2026-03-20T12:00:00.000Z');

describe('the retention of the log', () => {
  const redis = useRedis();

  /** One event a minute, the newest a minute ago. */
  async function minutes(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, index) => `${NOW - (count - index) * MINUTE}-0`);
    const pipeline = redis.redis.pipeline();
    for (const id of ids) pipeline.xadd(redis.keys.log('acme'), id, 'event', '{}');
    await pipeline.exec();
    return ids;
  }
  const left = async (): Promise<string[]> =>
    (await redis.redis.xrange(redis.keys.log('acme'), '-', '+')).map(([id]) => id);
  const reads = (subscription: string, place: string): Promise<number> =>
    redis.redis.hset(redis.keys.offsets('acme'), subscription, place);
  const trim = (options: Partial<TrimOptions>) =>
    trimLog(redis.redis, redis.keys, {
      workspace: 'acme',
      readers: ['books'],
      retention: { ageMs: 10 * MINUTE, events: 1_000_000 },
      nowMs: NOW,
      disabled: [],
      ...options,
    });

  it('drops what is too old, and not what a subscription has still to read', async () => {
    const ids = await minutes(30);
    await reads('books', ids[24]!);
    expect(await trim({})).toEqual({ dropped: 20, droppedOffsets: [], missedBy: [] });
    expect(await left()).toEqual(ids.slice(20));

    await reads('mail', ids[22]!);
    expect(await trim({ nowMs: NOW + DAY, readers: ['books', 'mail'] })).toMatchObject({ dropped: 2 });
    // The last one read stays, and all that comes after it.
    expect(await left()).toEqual(ids.slice(22));
  });

  it('drops what is too much, over many steps, and not what a subscription has still to read', async () => {
    const ids = await minutes(4_500);
    const retention = { ageMs: 365 * DAY, events: 100 };
    await reads('books', ids[4_000]!);
    expect(await trim({ retention })).toMatchObject({ dropped: 4_000 });
    await reads('books', ids.at(-1)!);
    expect(await trim({ retention })).toMatchObject({ dropped: 400 });
    expect(await left()).toEqual(ids.slice(-100));
  });

  it('drops by age and number alone where nobody reads', async () => {
    await minutes(30);
    expect(await trim({ readers: [], retention: { ageMs: 10 * MINUTE, events: 3 } })).toMatchObject({ dropped: 27 });
  });

  it('is held for a week by a subscription that nobody who dispatches knows, and then no longer', async () => {
    const ids = await minutes(30);
    await reads('books', ids.at(-1)!);
    await reads('removed', ids[2]!);
    for (const days of [0, 3, 7]) await trim({ nowMs: NOW + days * DAY });
    expect(await left()).toEqual(ids.slice(2));

    expect(await trim({ nowMs: NOW + 7 * DAY + 1 })).toEqual({
      dropped: 27,
      droppedOffsets: ['removed'],
      missedBy: [],
    });
    expect(await redis.redis.hgetall(redis.keys.offsets('acme'))).toEqual({ books: ids.at(-1) });
    expect(await redis.redis.exists(redis.keys.unconfigured('acme'))).toBe(0);
  });

  it('is held by a subscription of another configuration, as long as somebody who knows it comes by', async () => {
    const ids = await minutes(30);
    await reads('books', ids.at(-1)!);
    await reads('theirs', ids[2]!);
    for (let day = 0; day < 30; day += 1) {
      expect(await trim({ nowMs: NOW + day * DAY })).toMatchObject({ droppedOffsets: [] });
      if (day % 6 === 0) await trim({ nowMs: NOW + day * DAY, readers: ['theirs'] });
    }
    expect(await left()).toEqual(ids.slice(2));
  });
});
