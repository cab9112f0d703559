import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import type { Changefeed } from '../../../src/actions/feed.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { createSandbox, type Sandbox } from '../../../sandbox/sandbox.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { baselined, openFeed } from '../../support/feed.js';
import { isGate } from '../../support/night.js';
import { loggedEvents, startPrivateRedis, useRedis } from '../../support/redis.js';

const HOUR_MS = 3_600_000;

const redis = useRedis();
const cli = useCli();

const sandboxed = async (options: Parameters<typeof createSandbox>[0] = {}): Promise<Sandbox> => {
  const start = Date.UTC(2026, 0, 1);
  const sandbox = createSandbox({ people: 20, todos: 40, limit: null, seed: 11, start, ...options });
  onTestFinished(() => sandbox.stop());
  await sandbox.start();
  return sandbox;
};
const configured = async (sandbox: Sandbox, interval = '1h'): Promise<object> => {
  const { url, token } = await sandbox.start();
  const others = ['people', 'organization', 'memo', 'history', 'activity'];
  const lists = Object.fromEntries(others.map((list) => [list, { enabled: false }]));
  const budget = { requests: 10_000, perSeconds: 1 };
  const todos = { dueSoon: '1m' };
  const workspace = { name: 'acme', baseUrl: url, token, budget, todos, lists: { ...lists, todo: { interval } } };
  return { workspaces: [workspace], redis: { prefix: redis.keys.prefix } };
};
const opened = (config: object, url = redis.url): Promise<Changefeed> => openFeed({ url, keys: redis.keys }, config);
const overdue = (events: readonly ChangeEvent[]): ChangeEvent[] =>
  events.filter(({ type }) => type === 'crm.todo.overdue');
const dueIn = (sandbox: Sandbox, ms: number, count: number): string[] => {
  const endAt = Date.now() + ms;
  const ids = Array.from({ length: count }, () => sandbox.life.createTodo({ startAt: endAt - HOUR_MS, endAt }));
  return ids.sort();
};

it('todo events: overdue is emitted at the due time, not at the next sweep', async () => {
  const sandbox = await sandboxed();
  const ids = dueIn(sandbox, 8_000, 3);
  const feed = await opened(await configured(sandbox));
  await feed.start(['poll']);
  await baselined(feed);
  const [kept = '', done = '', moved = ''] = ids;
  sandbox.life.completeTodo(done);
  sandbox.life.rescheduleTodo(moved);
  const [event] = await eventually(async () => {
    const found = overdue(await loggedEvents(redis));
    expect(found.map(({ subject }) => subject)).toEqual([kept]);
    return found;
  });
  expect(event?.data.late).toBeUndefined();
  expect(Date.parse(event?.data.observedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(event?.data.due ?? ''));
});

it.skipIf(isGate)(
  'todo events: each overdue is emitted exactly once although processes and Redis are killed around its time',
  { timeout: 300_000 },
  async () => {
    const server = await startPrivateRedis();
    const sandbox = await sandboxed();
    const config = await configured(sandbox, '1s');
    const folder = await cli({ 'changefeed.config.json': config });
    const feed = await opened(config, server.url);
    const start = () => folder.start(['start', '--only', 'poll'], { REDIS_URL: server.url, LOG_LEVEL: 'info' });
    const connection = new Redis(server.url, { maxRetriesPerRequest: null });
    onTestFinished(() => connection.disconnect());
    connection.on('error', () => undefined);

    let pollers = [start(), start()];
    await Promise.all(pollers.map((one) => one.waitForLine(/changefeed is running/)));
    await baselined(feed);
    // Due one after the other, so that a process is killed after some events and before others.
    const ids = Array.from({ length: 24 }, (_, at) => dueIn(sandbox, 2_000 + at * 500, 1)).flat();
    await server.kill();
    await server.restart();

    const reported = async (): Promise<string[]> =>
      overdue(await loggedEvents({ redis: connection, keys: redis.keys })).map(({ subject }) => subject);
    for (let kills = 0; kills < 3; kills++) {
      const soFar = (await reported()).length;
      await eventually(async () => expect((await reported()).length).toBeGreaterThan(soFar), { intervalMs: 5 });
      const [victim, survivor] = pollers;
      await victim?.kill();
      pollers = [...(survivor === undefined ? [] : [survivor]), start()];
    }
    await eventually(async () => expect(new Set(await reported()).size).toBeGreaterThanOrEqual(ids.length), {
      timeoutMs: 90_000,
    });
    expect((await reported()).filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort());
  },
);
