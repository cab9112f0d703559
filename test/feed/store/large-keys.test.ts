/** A command on a whole key of a million entries blocks Redis, and with it everyone, for a quarter of a second and more. */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { jobIdsIn } from '../../../src/delivery/queues.js';
import { createRecordGate } from '../../../src/delivery/groups/gate.js';
import { createSweepStore } from '../../../src/feed/store/sweep-store.js';
import { eventually } from '../../support/eventually.js';
import { aSubscription } from '../../support/fan-out.js';
import { WORKSPACE } from '../../support/events.js';
import { useRedis } from '../../support/redis.js';
import { eventuallyDead, runFanOut } from '../../support/running-fan-out.js';

const test = useRedis();
const MANY = 12_000;
const ids = Array.from({ length: MANY }, (_, n) => `id-${n}`);

/**
 * All commands while `act` runs that name this key; also those that scripts call. Over a socket of its own: the client's MONITOR fails when
 * others use the same Redis in that moment.
 */
async function commandsOn(key: string, act: () => Promise<unknown>): Promise<string[][]> {
  const lines: string[] = [];
  const { hostname, port, password } = new URL(test.url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  createInterface({ input: socket }).on('line', (line) => lines.push(line));
  socket.write(`${password === '' ? '' : `AUTH ${decodeURIComponent(password)}\r\n`}MONITOR\r\n`);
  await eventually(() => expect(lines.at(0)).toBe('+OK'));
  await act();
  await test.redis.echo(`end of ${key}`);
  await eventually(() => expect(lines.some((line) => line.includes(`"end of ${key}"`))).toBe(true));
  const seen = lines.map((line) => [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text));
  return seen.filter(([, first]) => first === key);
}

const names = (commands: readonly string[][]): string[] => [
  ...new Set(commands.map(([name = '']) => name.toLowerCase())),
];

it('large keys: dead letters are read in steps, and the oldest is found', async () => {
  const { queues, append, dead } = await runFanOut(test, [
    aSubscription('s', () => Promise.reject(new Error('no')), { retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 } }),
  ]);
  await append(1);
  const [letter] = await eventuallyDead(dead, 1);
  const queue = queues.of('s');
  const failed = queue.toKey('failed');
  const later = Date.now() * 4_096 * 2;
  await test.redis.zadd(failed, ...ids.flatMap((id, n) => [later + n, id]));

  const commands = await commandsOn(failed, async () => {
    expect(await dead.list({ ids: [letter!.id] })).toEqual([letter]);
    expect(await jobIdsIn(queue, ['failed', 'completed'])).toHaveLength(MANY + 1);
  });

  const ranges = commands.filter(([name = '']) => /range/i.test(name));
  expect(ranges.length).toBeGreaterThan(2);
  for (const [, , from, to] of ranges) expect(Number(to) - Number(from)).toBeLessThan(10_000);
});

it('large keys: pending deliveries are read in steps', async () => {
  const pending = test.keys.pending('s', WORKSPACE);
  await test.redis.zadd(pending, ...ids.flatMap((id, n) => [n + 1, id]));

  const commands = await commandsOn(pending, async () => {
    expect(await createRecordGate(test.redis, test.keys).heads('s', [WORKSPACE])).toHaveLength(MANY);
  });

  expect(names(commands)).toEqual(['zscan']);
});

it('large keys: missing and unconfirmed records are read in steps', async () => {
  const store = createSweepStore(test.redis, test.keys, WORKSPACE);
  const [missing, unconfirmed] = [test.keys.missing(WORKSPACE, 'todo'), test.keys.unconfirmed(WORKSPACE, 'todo')];
  const at = '2026-03-01T00:00:00.000Z';
  const since = JSON.stringify({ sweeps: 1, since: at, readAt: at, sweep: 'todo-1' });
  await test.redis.hset(missing, ...ids.flatMap((id) => [id, since]));
  await test.redis.sadd(unconfirmed, ...ids);
  const membership = async (): Promise<void> => {
    const { before, missing: found } = await store.membership('todo');
    expect([found.size, [...before.values()].flat().length]).toEqual([MANY, MANY]);
  };

  expect(names(await commandsOn(missing, membership))).toEqual(['hscan']);
  expect(names(await commandsOn(unconfirmed, membership))).toEqual(['sscan']);
});
