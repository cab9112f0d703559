import { describe, expect, it } from 'vitest';
import { RedisLogReader } from '../../src/state/event-log.js';
import { appendEvents, changeEvent, WORKSPACE } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const events = [1, 2, 3].map((sequence) => changeEvent({ record: 'r1', sequence }));
const never = new AbortController().signal;
const aReader = (): RedisLogReader =>
  new RedisLogReader({
    redis: test.redis,
    keys: test.keys,
    connect: () => test.connect({ maxRetriesPerRequest: null }),
  });

describe('the log reader', () => {
  it('reads what comes after a place, oldest first, no more than asked', async () => {
    const reader = aReader();
    const ids = await appendEvents(test.redis, test.keys, events);

    expect(await reader.read(WORKSPACE, '0', 2)).toEqual([
      { logId: ids[0], event: events[0] },
      { logId: ids[1], event: events[1] },
    ]);
    expect(await reader.read(WORKSPACE, ids[1]!, 10)).toEqual([{ logId: ids[2], event: events[2] }]);
    expect(await reader.read(WORKSPACE, ids[2]!, 10)).toEqual([]);
  });

  it('knows the end of the log, and that of an empty one', async () => {
    const reader = aReader();
    expect(await reader.tail(WORKSPACE)).toBe('0');

    const ids = await appendEvents(test.redis, test.keys, events);

    expect(await reader.tail(WORKSPACE)).toBe(ids[2]);
  });

  it('waits until there is more', async () => {
    const reader = aReader();
    const waiting = reader.waitForMore(WORKSPACE, '0', 10_000, never);

    await appendEvents(test.redis, test.keys, events);

    expect(await waiting).toBe(true);
    await reader.close();
  });

  it('stops waiting when time is up and when told', async () => {
    const reader = aReader();
    const stop = new AbortController();
    const told = reader.waitForMore(WORKSPACE, '0', 60_000, stop.signal);

    expect(await reader.waitForMore(WORKSPACE, '0', 20, never)).toBe(false);
    stop.abort();
    expect(await told).toBe(false);
    expect(await reader.waitForMore(WORKSPACE, '0', 60_000, stop.signal)).toBe(false);
  });

  it('ends its waits when it is closed', async () => {
    const reader = aReader();
    const waiting = reader.waitForMore(WORKSPACE, '0', 60_000, never);

    await reader.close();

    expect(await waiting).toBe(false);
  });

  it('names an entry that is not an event, and shows nothing of it', async () => {
    const id = await test.redis.xadd(test.keys.log(WORKSPACE), '*', 'event', 'secret{');

    const failure = await aReader()
      .read(WORKSPACE, '0', 1)
      .catch((error: unknown) => String(error));

    expect(failure).toContain(`Entry ${id!} of the log of workspace "acme" is not an event`);
    expect(failure).not.toContain('secret');
  });
});
