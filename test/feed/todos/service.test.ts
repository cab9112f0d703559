import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Changefeed } from '../../../src/service/changefeed.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { systemClock, type Clock } from '../../../src/kit/clock.js';
import type { MutationLine } from '../../../sandbox/journal/lines.js';
import { createSandbox, type Sandbox } from '../../../sandbox/sandbox.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { skippingClock } from '../../support/fast-clock.js';
import { baselined, openFeed } from '../../support/feed.js';
import { loggedEvents, startPrivateRedis, useRedis } from '../../support/redis.js';

const HOUR_MS = 3_600_000;

const VERB_OF: Readonly<Record<string, string>> = {
  'complete-todo': 'completed',
  'reopen-todo': 'reopened',
  'reschedule-todo': 'rescheduled',
  'reassign-todo': 'reassigned',
};

describe('todo events: a running service', () => {
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
  const opened = (config: object, url = redis.url, clock?: Clock): Promise<Changefeed> =>
    openFeed({ url, keys: redis.keys }, config, clock === undefined ? {} : { clock });
  const overdue = (events: readonly ChangeEvent[]): ChangeEvent[] =>
    events.filter(({ type }) => type === 'crm.todo.overdue');
  const dueIn = (sandbox: Sandbox, ms: number, count: number): string[] => {
    const endAt = Date.now() + ms;
    const ids = Array.from({ length: count }, () => sandbox.life.createTodo({ startAt: endAt - HOUR_MS, endAt }));
    return ids.sort();
  };

  it.each(['written', 'wild', 'both'] as const)(
    'todo events: agree with the journal and its order, with field names %s',
    async (todoNames) => {
      // The own time of an edit trails its moment by up to 70 ms: of two edits within that time, the second may have the earlier one.
      const clock = skippingClock(systemClock);
      const sandbox = await sandboxed({ behaviour: { todoNames }, clock });
      const feed = await opened(await configured(sandbox));
      await feed.sweep();
      const acts = ['completeTodo', 'reopenTodo', 'rescheduleTodo', 'reassignTodo', 'editTodo', 'relinkTodo'] as const;
      for (let at = 0; at < 30; at++) {
        clock.skip(100);
        sandbox.life[acts[at % acts.length] ?? 'editTodo']();
        await feed.sweep();
      }
      const events = (await loggedEvents(redis)).filter(({ data }) => data.detectedBy !== 'clock');
      const reported = events.flatMap(({ type, subject, data }) =>
        data.derivedFrom === undefined ? [] : [`${type.slice('crm.todo.'.length)} ${subject}`],
      );
      const mutations = sandbox.journal.lines().filter((line): line is MutationLine => line.line === 'mutation');
      const truth = mutations.flatMap(({ list, kind, id }) =>
        list === 'todo' && VERB_OF[kind] !== undefined ? [`${VERB_OF[kind]} ${id}`] : [],
      );
      expect(truth.length).toBeGreaterThanOrEqual(20);
      expect(reported).toEqual(truth);
      for (const [at, { data }] of events.entries()) {
        if (data.derivedFrom !== undefined) expect(events[at - 1]?.id).toBe(data.derivedFrom);
      }
    },
  );

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

  it('todo events: an overdue that was missed is emitted once, marked late, at the next start', async () => {
    const sandbox = await sandboxed();
    const config = await configured(sandbox);
    const ids = dueIn(sandbox, HOUR_MS, 3);
    const [first = '', second = '', third = ''] = ids;
    const before = await opened(config);
    await before.sweep();
    await before.stop();
    sandbox.life.completeTodo(third);
    const later: Clock = { ...systemClock, now: () => systemClock.now() + 5 * HOUR_MS };
    for (let start = 0; start < 2; start++) {
      const feed = await opened(config, redis.url, later);
      await feed.start(['poll']);
      await eventually(async () => {
        const found = overdue(await loggedEvents(redis));
        const reported = found.map(({ subject, data: { late } }) => [subject, late]);
        expect(reported.filter(([subject]) => ids.includes(String(subject)))).toEqual([
          [first, true],
          [second, true],
        ]);
      });
      await feed.stop();
    }
  });

  it(
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
});
