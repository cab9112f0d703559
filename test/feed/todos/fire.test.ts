import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import type { Clock } from '../../../src/kit/clock.js';
import { createTodoStore } from '../../../src/feed/todos/todo-store.js';
import { fireDue } from '../../../src/feed/todos/fire.js';
import { rebuildTimers } from '../../../src/feed/todos/monitor.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { sweptList, type SweptListOptions } from '../../support/swept-list.js';
import { SPELLINGS, written } from '../../support/todos.js';

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
    const fire = (clock: Clock = list.clock) => fireDue({ workspace: 'acme', store, clock });
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

  it('due times: a timer waits for a sweep that begins after its time and shows the todo open', async () => {
    const list = open();
    await list.sweep([written('a', { due: list.inHours(1) })]);
    const later: Clock = { ...list.clock, now: () => list.clock.now() + 2 * HOUR_MS };
    expect(await list.fire(later)).toBe(0);
    await list.sweep([written('a', { done: true, due: list.inHours(1) })], 2);
    expect(await list.fire()).toBe(0);
    expect(await list.eventLines()).toEqual(['updated a 1', 'completed a 1']);
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
  });

  describe('due times: other options', () => {
    const led = (hours: number) => ({ ...watch, dueSoonMs: hours * HOUR_MS });
    /** Sweeps so many hours later with this lead time, and fires what is due, as a process does. */
    const turn = async (
      list: ReturnType<typeof open>,
      shown: UncheckedRecord[],
      hours: number,
      lead: number | null,
    ) => {
      const watched = lead === null ? undefined : led(lead);
      await list.sweep(shown, hours, { watch: watched } as unknown as SweptListOptions);
      await rebuildTimers(list.todos, watched ?? null, list.clock);
      if (lead !== null) await list.fire();
    };
    const told = async (list: ReturnType<typeof open>) =>
      (await list.events()).map(({ type, data }) => `${type.slice('crm.todo.'.length)} ${data.due ?? ''}`);

    it.each([
      ['shortened', [24, 1]],
      ['shortened and lengthened again', [24, 1, 2]],
      ['switched off and on again', [24, null, 1]],
    ])('dueSoon %s: what was due soon is not due soon once more', async (_how, [first, ...leads]) => {
      const list = open();
      const due = list.inHours(30);
      const record = written('a', { due });
      await turn(list, [record], 0, first ?? null);
      await turn(list, [record], 10, first ?? null);
      expect(await told(list)).toEqual([`due_soon ${due}`]);
      for (const lead of leads) await turn(list, [record], 1, lead);
      await turn(list, [record], 17.5, leads.at(-1) ?? null);
      expect(await told(list)).toEqual([`due_soon ${due}`]);
      await turn(list, [record], 2, leads.at(-1) ?? null);
      expect(await told(list)).toEqual([`due_soon ${due}`, `overdue ${due}`]);
    });

    it('dueSoon lengthened: no event in the past, and none names another due time', async () => {
      const list = open();
      const [near, far] = [list.inHours(5), list.inHours(20)];
      const records = [written('near', { due: near }), written('far', { due: far })];
      await turn(list, records, 0, 1);
      await turn(list, records, 1, 10);
      await turn(list, records, 10, 10);
      expect(await told(list)).toEqual([`overdue ${near}`, `due_soon ${far}`]);
    });

    it('switched off: a todo that was moved meanwhile keeps no old time', async () => {
      const list = open();
      const shown = (due: string) => [written('a', { due })];
      await list.sweep(shown(list.inHours(30)), 0);
      await rebuildTimers(list.todos, watch, list.clock);
      await rebuildTimers(list.todos, null, list.clock);
      await list.sweep(shown(list.inHours(50)), 0.1, { watch: undefined } as unknown as SweptListOptions);
      await rebuildTimers(list.todos, watch, list.clock);
      await list.sweep(shown(list.inHours(50)), 32);
      await list.fire();
      expect((await told(list)).filter((line) => line.startsWith('overdue'))).toEqual([]);
    });

    it('switched off: what becomes due meanwhile is not reported later', async () => {
      const list = open();
      const record = written('a', { due: list.inHours(30) });
      await list.sweep([record], 0);
      await rebuildTimers(list.todos, watch, list.clock);
      await rebuildTimers(list.todos, null, list.clock);
      await list.sweep([record], 31, { watch: undefined } as unknown as SweptListOptions);
      await rebuildTimers(list.todos, watch, list.clock);
      await list.sweep([record], 1);
      await list.fire();
      expect(await told(list)).toEqual([]);
    });
  });

  describe('no timer without an event', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
    it.each(['마지막 날짜', '완료'])(
      '"%s" vanishes from all todos and returns twice: nothing becomes overdue',
      async (field) => {
        const list = open();
        const whole = ids.map((id) => written(id, { due: list.inHours(-5) }));
        const without = whole.map((record) =>
          Object.fromEntries(Object.entries(record).filter(([name]) => name !== field)),
        );
        await list.sweep([...whole, written('later', { due: list.inHours(10) })] as UncheckedRecord[]);
        for (const shown of [without, whole, without, whole]) {
          await list.sweep(shown);
          await list.sweep(shown);
          await list.fire();
        }
        expect(await firedEvents(list)).toEqual([]);
      },
    );

    it('a due time in the future that returns is still reported', async () => {
      const list = open();
      const whole = ids.map((id) => written(id, { due: list.inHours(30) }));
      const without = whole.map(({ '마지막 날짜': _, ...rest }) => rest);
      for (const shown of [whole, without, without, whole, whole]) await list.sweep(shown);
      await list.sweep(whole, 31);
      await list.fire();
      const overdue = (await list.events()).filter(({ type }) => type === 'crm.todo.overdue');
      expect(overdue.map(({ subject }) => subject).sort()).toEqual([...ids].sort());
    });

    it('a date in the past that a rule mutes yields none, also when another field changes; without the rule it does', async () => {
      const list = open();
      const rules = { ignore: ['마지막 날짜'] };
      const shown = (due: string, owner: string) => [written('a', { due, owner: { id: owner, name: owner } })];
      await list.sweep(shown(list.inHours(50), 'u1'), 0, { rules });
      await list.sweep(shown(list.inHours(-1), 'u1'), 0.1, { rules });
      await list.sweep(shown(list.inHours(-2), 'u2'), 0.1, { rules });
      await list.fire();
      expect(await firedEvents(list)).toEqual([]);
      await list.sweep(shown(list.inHours(-3), 'u2'), 0.1);
      await list.fire();
      expect(await firedEvents(list)).toEqual([expect.stringMatching(/^crm\.todo\.overdue a \d+$/)]);
    });
  });
});
