import { expect, it, onTestFinished } from 'vitest';
import { createLogReader, type EventLog } from '../../src/log/event-log.js';
import { appendEvents, changeEvent, fieldsOf, WORKSPACE } from '../support/events.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const events = [1, 2, 3].map((sequence) => changeEvent({ record: 'r1', sequence }));
const never = new AbortController().signal;
const aReader = (): EventLog =>
  createLogReader({
    redis: test.redis,
    keys: test.keys,
    connect: () => test.connect({ maxRetriesPerRequest: null }),
  });

it('log: the event of an entry with other fields is read', async () => {
  const log = test.keys.log(WORKSPACE);
  const fields = fieldsOf(events[0]!);
  const first = await test.redis.xadd(log, '*', ...fields, 'traceparent', '00-1');
  const second = await test.redis.xadd(log, '*', 'colour', 'event', ...fields);

  expect(await aReader().read(WORKSPACE, { limit: 2 })).toEqual([
    { logId: first, event: events[0] },
    { logId: second, event: events[0] },
  ]);
});

it('log: an event is read, whatever its type and data', async () => {
  const [event] = events;
  const own = { ...event!, type: 'acme.person.promoted', data: { ...event!.data, derivedBy: 'promotions' } };
  await appendEvents(test, [own]);

  expect(await aReader().read(WORKSPACE, { limit: 2 })).toMatchObject([{ event: own }]);
});

it('log: a read of large events ends before its count, and the next one goes on', async () => {
  const reader = aReader();
  const large = Array.from({ length: 60 }, (_, n) => changeEvent({ record: 'r1', sequence: n + 1, weight: 300_000 }));
  const ids = await appendEvents(test, large);

  const first = await reader.read(WORKSPACE, { limit: 1_000 });
  const rest = await reader.read(WORKSPACE, { from: first.at(-1)!.logId, limit: 1_000 });

  expect(first).toHaveLength(50);
  expect([...first, ...rest].map(({ logId }) => logId)).toEqual(ids);
});

it('log: a wait ends at its timeout and when it is aborted', async () => {
  const reader = aReader();
  const stop = new AbortController();
  const aborted = reader.waitForMore(WORKSPACE, '0', 60_000, stop.signal);

  expect(await reader.waitForMore(WORKSPACE, '0', 20, never)).toBe(false);
  stop.abort();
  expect(await aborted).toBe(false);
  expect(await reader.waitForMore(WORKSPACE, '0', 60_000, stop.signal)).toBe(false);
});

it('log: closing the reader ends its waits', async () => {
  const reader = aReader();
  const waiting = reader.waitForMore(WORKSPACE, '0', 60_000, never);

  await reader.close();

  expect(await waiting).toBe(false);
});

it('log: waits of many logs share one connection, and each ends with its own events', async () => {
  let connections = 0;
  const connect = () => {
    connections += 1;
    return test.connect({ maxRetriesPerRequest: null });
  };
  const reader = createLogReader({ redis: test.redis, keys: test.keys, connect });
  onTestFinished(() => reader.close());
  const names = Array.from({ length: 50 }, (_, at) => `ws${at}`);
  const waits = names.map((name) => reader.waitForMore(name, '0-0', 30_000, never));
  const [first] = await Promise.all([waits[7], test.redis.xadd(test.keys.log('ws7'), '*', 'event', '{}')]);
  expect(first).toBe(true);
  // A wait that begins while another one is blocked.
  const late = reader.waitForMore('late', '0-0', 30_000, never);
  await test.redis.xadd(test.keys.log('late'), '*', 'event', '{}');
  expect(await late).toBe(true);
  const open = await Promise.race([Promise.all(waits.slice(10)), reader.waitForMore('none', '0-0', 50, never)]);
  expect([open, connections]).toEqual([false, 1]);
});
