/** The types that a handler is compiled against are true: of every event that real sweeps find, and of what `settle` merges of them. */
import { describe, expect, it } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import { mergeChanges } from '../../src/delivery/run/merge-changes.js';
import { TODO_VERBS, VERBS } from '../../src/events/kinds.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Clock } from '../../src/kit/clock.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { problemsOf } from '../support/event-schemas.js';
import { fastClock } from '../support/fast-clock.js';
import { eventsOf, openFeed } from '../support/feed.js';
import { useRedis } from '../support/redis.js';
import { served } from '../support/sandbox.js';

/** Longer than any replica lags; two of them are longer than a removal waits. A tenth of a second on the test's clock. */
const APART_MS = 16_000;
const MINUTE_MS = 60_000;

const verbOf = ({ type }: ChangeEvent): string => type.split('.')[2] ?? '';

describe('event types', () => {
  const redis = useRedis();

  async function world(): Promise<{ sandbox: Sandbox; clock: Clock; open: () => Promise<Changefeed> }> {
    const clock = fastClock(120);
    const { sandbox, target } = await served({ people: 40, organizations: 20, todos: 30, seed: 5, clock });
    const { url, token } = target;
    const open = async (): Promise<Changefeed> => {
      const lists = {
        organization: { baseline: { since: '2025-01-01T00:00:00.000Z' } },
        memo: { baseline: 'emit' },
      };
      const budget = { requests: 100_000, perSeconds: 1 };
      const workspace = { name: 'acme', baseUrl: url, token, budget, lists, todos: { dueSoon: '30m' } };
      return await openFeed(redis, { workspaces: [workspace] }, { clock });
    };
    return { sandbox, clock, open };
  }

  async function sweepTimes(feed: Changefeed, clock: Clock, times = 3): Promise<void> {
    for (let sweep = 0; sweep < times; sweep++) {
      for (const { outcome } of await feed.sweep()) expect(outcome).toBe('complete');
      await clock.sleep(APART_MS);
    }
  }

  async function live(feed: Changefeed, sandbox: Sandbox, clock: Clock): Promise<void> {
    const { life } = sandbox;
    const edited = life.editPerson();
    const created = life.createPerson();
    const [doomed, gone, kept] = [life.createPerson(), life.createPerson(), life.createPerson()];
    const [startAt, endAt] = [clock.now() - MINUTE_MS, clock.now() + 20 * MINUTE_MS];
    const todos = Array.from({ length: 5 }, () => life.createTodo({ startAt, endAt }));
    life.moveDeal();
    life.editMemo();
    life.createMemo();
    await sweepTimes(feed, clock);
    for (const id of [edited, created]) life.editPerson(id);
    life.delete('people', doomed);
    life.mergePeople(gone, kept);
    const [done = '', moved = '', given = ''] = todos;
    life.completeTodo(done);
    life.rescheduleTodo(moved);
    life.reassignTodo(given);
    await sweepTimes(feed, clock);
    life.editPerson(edited);
    life.delete('people', created);
    life.reopenTodo(done);
    sandbox.fault('drift-added');
    await clock.sleep(20 * MINUTE_MS);
    await sweepTimes(feed, clock);
  }

  function mergedOf(events: readonly ChangeEvent[]): ChangeEvent[] {
    const subjects = [...new Set(events.map(({ subject }) => subject))];
    return subjects.flatMap((subject) => {
      const settled: ChangeEvent[] = [];
      let [first, ...others] = events.filter(
        (event) => event.subject === subject && event.data.derivedFrom === undefined,
      );
      while (first !== undefined) {
        const { taken, event } = mergeChanges([first, ...others]);
        if (event?.data.merged !== undefined) settled.push(event);
        [first, ...others] = others.slice(taken - 1);
      }
      return settled;
    });
  }

  it('event types: describe the events of every verb', async () => {
    const { sandbox, clock, open } = await world();
    const feed = await open();
    await sweepTimes(feed, clock, 1);
    await live(feed, sandbox, clock);
    const events = await eventsOf(feed);
    // What has not happened is logged where somebody asks for it.
    const logged = [...VERBS, ...TODO_VERBS].filter((verb) => verb !== 'unchanged');
    expect([...new Set(events.map(verbOf))].sort()).toEqual(logged.sort());
    expect(events.flatMap(problemsOf)).toEqual([]);
    const ofLists = events.filter((event) => verbOf(event) === 'schema_changed');
    expect(await eventsOf(feed, ['crm.*.schema_changed'])).toEqual(ofLists);
    expect(await eventsOf(feed, ['crm.*'])).toEqual(events.filter((event) => !ofLists.includes(event)));
    const merged = mergedOf(events);
    expect([...new Set(merged.map(verbOf))].sort()).toEqual(['created', 'deleted', 'snapshot', 'updated']);
    expect(merged.flatMap(problemsOf)).toEqual([]);
  });

  it('event types: an event that does not match its type is found (control)', async () => {
    const { clock, open, sandbox } = await world();
    const feed = await open();
    await sweepTimes(feed, clock, 1);
    sandbox.life.editPerson();
    await sweepTimes(feed, clock, 1);
    const event = (await eventsOf(feed)).find(({ type }) => type === 'crm.person.updated')!;
    expect(problemsOf(event)).toEqual([]);
    expect(problemsOf({ ...event, data: { ...event.data, after: null } })).toHaveLength(1);
    expect(problemsOf({ ...event, data: { ...event.data, due: event.time } })).toHaveLength(1);
    expect(problemsOf({ ...event, type: 'crm.person.deleted' }).length).toBeGreaterThan(0);
  });
});
