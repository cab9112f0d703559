import { describe, expect, it, vi } from 'vitest';
import { trimLog, type TrimOptions } from '../../src/delivery/run/retention.js';
import { useRedis } from '../support/redis.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = Date.parse('2026-03-20T12:00:00.000Z');

describe('the retention of the log', () => {
  const redis = useRedis();

  async function minutes(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, index) => `${NOW - (count - index) * MINUTE}-0`);
    const pipeline = redis.redis.pipeline();
    for (const id of ids) pipeline.xadd(redis.keys.log('acme'), id, 'event', '{}');
    await pipeline.exec();
    return ids;
  }
  const left = async (): Promise<string[]> =>
    (await redis.redis.xrange(redis.keys.log('acme'), '-', '+')).map(([id]) => id);
  const reads = async (subscription: string, offset: string): Promise<void> => {
    await redis.redis.hset(redis.keys.readers('acme'), subscription, 0);
    await redis.redis.hset(redis.keys.offsets(subscription), 'acme', offset);
  };
  const trim = async (options: Partial<TrimOptions>) => {
    const before = (await left()).length;
    const trimmed = await trimLog(redis.redis, redis.keys, {
      workspace: 'acme',
      readers: ['books'],
      retention: { ageMs: 10 * MINUTE, events: 1_000_000 },
      nowMs: NOW,
      paused: [],
      ...options,
    });
    return { dropped: before - (await left()).length, ...trimmed };
  };

  it('retention: old events are removed unless a subscription has not read them', async () => {
    const ids = await minutes(30);
    await reads('books', ids[24]!);
    expect(await trim({})).toEqual({ dropped: 20, droppedOffsets: [], missedBy: [] });
    expect(await left()).toEqual(ids.slice(20));

    await reads('mail', ids[22]!);
    expect(await trim({ nowMs: NOW + DAY, readers: ['books', 'mail'] })).toMatchObject({ dropped: 2 });
    // The last event read stays, with all after it.
    expect(await left()).toEqual(ids.slice(22));
  });

  it('retention: an event that is read and pending keeps the log, but not for a paused subscription', async () => {
    const ids = await minutes(30);
    await reads('books', ids.at(-1)!);
    const score = Number(ids[5]!.split('-')[0]);
    await redis.redis.zadd(redis.keys.pending('books', 'acme'), score, 'evt_1');

    expect(await trim({})).toEqual({ dropped: 5, droppedOffsets: [], missedBy: [] });
    expect(await trim({ paused: ['books'] })).toEqual({ dropped: 15, droppedOffsets: [], missedBy: ['books'] });
  });

  it('retention: what has not happened keeps what was not read for it', async () => {
    const ids = await minutes(30);
    await reads('books', ids.at(-1)!);
    expect(await trim({ alsoReadTo: ids[12]! })).toMatchObject({ dropped: 12 });
    expect(await trim({ alsoReadTo: null })).toMatchObject({ dropped: 8 });
  });

  it('retention: no command removes more than 1,000 events, by age or by number', async () => {
    await minutes(4_550);
    const trimmed = vi.spyOn(redis.redis, 'xtrim');
    const counts = (): Promise<number[]> =>
      Promise.all(trimmed.mock.results.map(({ value }) => value as Promise<number>));

    expect(await trim({ nowMs: NOW - 2_000 * MINUTE })).toMatchObject({ dropped: 2_540 });
    const retention = { ageMs: 365 * DAY, events: 5 };
    expect(await trim({ retention })).toMatchObject({ dropped: 2_005 });

    expect(Math.max(...(await counts()))).toBeLessThanOrEqual(1_000);
    expect((await counts()).reduce((sum, count) => sum + count, 0)).toBe(4_545);
  });

  it('retention: an unconfigured subscription keeps its unread events for 7 days', async () => {
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
    expect(await redis.redis.hgetall(redis.keys.readers('acme'))).toEqual({ books: '0' });
    expect(await redis.redis.exists(redis.keys.offsets('removed'))).toBe(0);
  });

  it('retention: a subscription of another configuration keeps its unread events while its process runs', async () => {
    const ids = await minutes(30);
    await reads('books', ids.at(-1)!);
    await reads('theirs', ids[2]!);
    for (let day = 0; day < 30; day += 1) {
      expect(await trim({ nowMs: NOW + day * DAY })).toMatchObject({ droppedOffsets: [] });
      if (day % 6 === 0) await trim({ nowMs: NOW + day * DAY, readers: ['theirs'] });
    }
    expect(await left()).toEqual(ids.slice(2));
  });

  async function readUnequally() {
    const ids = await minutes(10);
    await reads('slow', ids[1]!);
    await reads('quick', ids[8]!);
    const options = { retention: { ageMs: DAY, events: 5 }, readers: ['slow', 'quick'] };
    return { ids, trimFor: (...paused: string[]) => trim({ ...options, paused }) };
  }

  it('retention: unread events are kept beyond the limit', async () => {
    const { ids, trimFor } = await readUnequally();
    expect(await trimFor()).toEqual({ droppedOffsets: [], dropped: 1, missedBy: [] });
    expect(await left()).toEqual(ids.slice(1));
  });

  it('retention: unread events of a paused subscription are removed, and it is reported as missing them', async () => {
    const { ids, trimFor } = await readUnequally();
    expect(await trimFor('slow')).toEqual({ droppedOffsets: [], dropped: 5, missedBy: ['slow'] });
    expect(await left()).toEqual(ids.slice(5));
    expect(await trimFor('slow')).toEqual({ droppedOffsets: [], dropped: 0, missedBy: [] });
  });

  it('retention: a paused subscription misses nothing within the limits', async () => {
    const { ids, trimFor } = await readUnequally();
    expect(await trimFor('quick')).toEqual({ droppedOffsets: [], dropped: 1, missedBy: [] });
    await reads('slow', ids[9]!);
    expect(await trimFor('quick')).toEqual({ droppedOffsets: [], dropped: 4, missedBy: [] });
    expect(await left()).toEqual(ids.slice(5));
  });
});
