import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../src/crm/record.js';
import type { Clock } from '../../src/runtime/clock.js';
import { createTodoStore } from '../../src/state/todo-store.js';
import { fireDue } from '../../src/todos/fire.js';
import { rebuildTimers } from '../../src/todos/monitor.js';
import { listedApi } from '../support/listed.js';
import { useRedis } from '../support/redis.js';
import { sweptList, type SweptListOptions } from '../support/swept-list.js';
import { SPELLINGS, written } from '../support/todos.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const watch = { timeZone: 'Asia/Seoul', dueSoonMs: DAY_MS };

describe('due times', () => {
  const redis = useRedis();
  const open = () => {
    const api = listedApi();
    const list = sweptList(redis, api, 'todo');
    const start = list.clock.now();
    const store = createTodoStore(redis.redis, redis.keys, 'acme');
    const fire = (clock: Clock = list.clock) => fireDue({ workspace: 'acme', store, dueSoonMs: DAY_MS, clock });
    /** A complete sweep so many hours after the last one. */
    const sweep = (shown: UncheckedRecord[], hours = 1 / 60, options: SweptListOptions = {}) => {
      api.records = shown;
      return list.sweep({ watch, minutesLater: hours * 60, ...options });
    };
    const inHours = (hours: number): string => new Date(start + hours * HOUR_MS).toISOString();
    return { ...list, todos: store, fire, sweep, inHours };
  };
  const firedEvents = async (list: ReturnType<typeof open>): Promise<string[]> =>
    (await list.events())
      .filter(({ data }) => data.detectedBy === 'clock')
      .map(
        ({ type, subject, data: { sequence, late = false } }) => `${type} ${subject} ${sequence}${late ? ' late' : ''}`,
      );

  it.each(SPELLINGS)('due times: a todo in %s fields yields two events, due_soon and overdue', async (_how, todo) => {
    const list = open();
    const record = todo('a', { due: list.inHours(48) });
    await list.sweep([record]);
    await list.sweep([record], 23.9);
    expect(await list.fire()).toBe(0);
    await list.sweep([record], 0.1);
    expect(await list.fire()).toBe(1);
    await list.sweep([record], 24);
    expect(await list.fire()).toBe(1);
    expect(await list.fire()).toBe(0);
    const [soon, over] = await list.events();
    expect([soon?.type, over?.type]).toEqual(['crm.todo.due_soon', 'crm.todo.overdue']);
    expect(soon).toMatchObject({
      subject: 'a',
      time: list.inHours(24),
      data: { before: null, after: record, changes: [], sequence: 0, due: list.inHours(48), detectedBy: 'clock' },
    });
    expect(over).toMatchObject({ time: list.inHours(48), data: { due: list.inHours(48) } });
    expect(soon?.id).not.toBe(over?.id);
  });

  it('due times: a trace context is logged with the event, and without one the event is alone', async () => {
    const list = open();
    await list.sweep([written('a', { due: list.inHours(48) })]);
    await list.sweep([written('a', { due: list.inHours(48) })], 24);
    const store = {
      ...list.todos,
      fire: (...[timer, todo, event]: Parameters<typeof list.todos.fire>) =>
        list.todos.fire(timer, todo, event, 'trace'),
    };
    await fireDue({ workspace: 'acme', store, dueSoonMs: DAY_MS, clock: list.clock });
    await list.sweep([written('a', { due: list.inHours(48) })], 24);
    await list.fire();
    const entries = await redis.redis.xrange(redis.keys.log('acme'), '-', '+');
    expect(entries.map(([, fields]) => fields)).toEqual([
      ['event', expect.any(String), 'traceparent', 'trace'],
      ['event', expect.any(String)],
    ]);
  });

  it('due times: a timer waits for a sweep that begins after its time and shows the todo open', async () => {
    const list = open();
    await list.sweep([written('a', { due: list.inHours(1) })]);
    const later: Clock = { ...list.clock, now: () => list.clock.now() + 2 * HOUR_MS };
    expect(await list.fire(later)).toBe(0);
    await list.sweep([written('a', { done: true, due: list.inHours(1) })], 2);
    expect(await list.fire()).toBe(0);
    expect(await list.eventLines()).toEqual(['updated a 1', 'completed a 1']);
  });

  it('due times: no event for a todo that is deleted, missing, rescheduled, or shown by a doubtful answer', async () => {
    const list = open();
    const due = list.inHours(1);
    const stays = written('stays', { due: list.inHours(500) });
    const stamped = (id: string, minute: number, done = false) =>
      written(id, { due, done, stamp: `2026-03-01T00:0${minute}:30.000Z` });
    await list.sweep([stays, written('gone', { due }), written('moved', { due }), stamped('doubtful', 5)]);
    const moved = written('moved', { due: list.inHours(9) });
    await list.sweep([stays, moved, stamped('doubtful', 4, true)], 2);
    await list.fire();
    expect(await firedEvents(list)).toEqual(['crm.todo.due_soon moved 1']);
    // The stored content is seen again, so the doubt is over. The missing todo is deleted by now.
    await list.sweep([stays, moved, stamped('doubtful', 5)]);
    await list.fire();
    expect((await firedEvents(list)).slice(1)).toEqual(['crm.todo.overdue doubtful 0 late']);
    await list.sweep([stays, moved], 7);
    await list.fire();
    expect((await firedEvents(list)).slice(2)).toEqual(['crm.todo.overdue moved 1 late']);
    expect(await list.eventLines()).toContain('deleted gone 1');
  });

  it('due times: each event is emitted once, however many processes fire the timers at the same time', async () => {
    const list = open();
    const records = Array.from({ length: 250 }, (_, index) => written(`t${index}`, { due: list.inHours(1) }));
    await list.sweep(records);
    await list.sweep(records, 1);
    const fired = await Promise.all([list.fire(), list.fire(), list.fire()]);
    expect(fired.reduce((sum, one) => sum + one, 0)).toBe(250);
    const subjects = (await list.events()).map(({ subject }) => subject);
    expect(new Set(subjects).size).toBe(subjects.length);
    expect(subjects).toHaveLength(250);
  });

  it('due times: an event is late when its time was missed, and not when the due date was already over when first seen', async () => {
    const list = open();
    await list.sweep([written('missed', { due: list.inHours(1) })]);
    await list.sweep([written('missed', { due: list.inHours(1) }), written('new', { due: list.inHours(-30) })], 5);
    await list.fire();
    expect(await firedEvents(list)).toEqual(['crm.todo.overdue new 1', 'crm.todo.overdue missed 0 late']);
  });

  it('due times: a reopened todo yields another event; a timer that fires twice yields the same event id', async () => {
    const list = open();
    const over = { due: list.inHours(-1) };
    const stamp = (minute: number): string => `2026-03-01T00:0${minute}:30.000Z`;
    await list.sweep([]);
    await list.sweep([written('a', { ...over, stamp: stamp(1) })]);
    await list.fire();
    await redis.redis.zadd(redis.keys.due('acme'), Date.parse(over.due), 'overdue a');
    await list.fire();
    await list.sweep([written('a', { ...over, done: true, stamp: stamp(2) })]);
    await list.sweep([written('a', { ...over, stamp: stamp(3) })]);
    await list.fire();
    const overdue = (await list.events()).filter(({ type }) => type === 'crm.todo.overdue');
    expect(overdue.map(({ id }) => overdue.findIndex((other) => other.id === id))).toEqual([0, 0, 2]);
    expect(overdue.map(({ data }) => data.sequence)).toEqual([1, 1, 3]);
  });

  it('due times: without images the event has the id of the todo and no contents', async () => {
    const list = open();
    const record = written('a', { due: list.inHours(1), owner: { id: 'u1', name: '담당A' } });
    await list.sweep([record], 0, { images: false });
    await list.sweep([record], 1, { images: false });
    await list.fire();
    const [event] = await list.events();
    expect(event).toMatchObject({ type: 'crm.todo.overdue', data: { after: { id: 'a' }, due: list.inHours(1) } });
    expect(Object.keys(event?.data.after ?? {})).toEqual(['id']);
  });

  it('due times: timers are set again when todos are watched for the first time or by other options; missed timers stay', async () => {
    const list = open();
    const midnight = new Date(Math.ceil(list.clock.now() / DAY_MS) * DAY_MS + 3 * DAY_MS).toISOString();
    const records = [
      written('day', { due: midnight }),
      written('missed', { due: list.inHours(1) }),
      written('done', { due: midnight, done: true }),
    ];
    const dueOf = async (timer: string) => Number(await redis.redis.zscore(redis.keys.due('acme'), timer));
    await list.sweep(records, 0, { watch: undefined } as unknown as SweptListOptions);
    expect(await redis.redis.zcard(redis.keys.due('acme'))).toBe(0);

    await rebuildTimers(list.todos, watch, list.clock);
    expect(await dueOf('overdue day')).toBe(Date.parse(midnight));
    await list.sweep(records, 2);
    await rebuildTimers(list.todos, { timeZone: 'UTC', dueSoonMs: HOUR_MS }, list.clock);
    expect(await dueOf('overdue day')).toBe(Date.parse(midnight) + DAY_MS);
    expect(await dueOf('due_soon day')).toBe(Date.parse(midnight) + 23 * HOUR_MS);
    expect(await dueOf('overdue missed')).toBe(Date.parse(list.inHours(1)));
    expect(await redis.redis.zscore(redis.keys.due('acme'), 'overdue done')).toBeNull();

    await rebuildTimers(list.todos, null, list.clock);
    expect(await redis.redis.zcard(redis.keys.due('acme'))).toBe(0);
  });
});
