import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { noColours, widthOf } from '../../../src/cli/text.js';
import { todosText } from '../../../src/cli/commands/todos.js';
import type { Clock } from '../../../src/kit/clock.js';
import { createTodoStore, type TodoStore } from '../../../src/feed/todos/todo-store.js';
import { factsIn, reportTodos, sumsOf } from '../../../src/feed/todos/report.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';
import { SPELLINGS, type Said, type Spelling } from '../../support/todos.js';

const NOW = '2026-03-09T18:30:00.000Z';
const DAY_MS = 86_400_000;
const period = { timeZone: 'Asia/Seoul', sinceMs: Date.parse(NOW) - 7 * DAY_MS, nowMs: Date.parse(NOW) };
const gana = { id: 'u1', name: '가나' };
const dara = { id: 'u2', name: '다라' };
const [one, two] = [
  { id: 't1', name: '영업 1팀' },
  { id: 't2', name: '영업 2팀' },
];

const TODOS: Said[] = [
  // Open: due today (date only), today at nine, today and overdue, yesterday, tomorrow (date only), without a due date.
  { due: '2026-03-09T15:00:00.000Z', owner: gana, team: [one] },
  { due: '2026-03-10T00:00:00.000Z', owner: gana, team: [one, two] },
  { due: '2026-03-09T16:00:00.000Z', owner: gana },
  { due: '2026-03-08T15:00:00.000Z', owner: dara },
  { due: '2026-03-10T15:00:00.000Z', owner: dara, team: [two] },
  {},
  // Done: within the period, after two days and after four days; before the period; at an unknown time.
  {
    done: true,
    createdAt: '2026-03-05T00:00:00.000Z',
    doneAt: '2026-03-07T00:00:00.000Z',
    due: '2026-03-08T01:00:00.000Z',
    owner: gana,
    team: [one],
  },
  { done: true, createdAt: '2026-03-05T00:00:00.000Z', doneAt: '2026-03-09T00:00:00.000Z', owner: dara },
  {
    done: true,
    createdAt: '2026-01-05T00:00:00.000Z',
    doneAt: '2026-02-09T00:00:00.000Z',
    due: '2026-02-09T00:00:00.000Z',
    owner: dara,
  },
  { done: true, doneAt: null, due: '2026-03-05T01:00:00.000Z', owner: dara },
];
const all = (todo: Spelling): UncheckedRecord[] => TODOS.map((said, index) => todo(`t${index}`, said));

describe('todos report', () => {
  it.each(SPELLINGS)(
    'todos report: counts todos in %s fields in total, by person in charge and by team',
    (_how, todo) => {
      const { total, people, teams } = sumsOf(all(todo).map(factsIn(period)));
      const counts = (...[open, dueToday, overdue, completed, completionRate, days]: (number | null)[]) => ({
        ...{ open, dueToday, overdue, completed, completionRate },
        medianMsToComplete: days == null ? null : days * DAY_MS,
      });
      // Due within the period: one today at 1:00, one yesterday, and two that are done.
      expect(total).toEqual(counts(6, 3, 2, 2, 2 / 4, 3));
      expect(people).toEqual([
        { ...gana, ...counts(3, 3, 1, 1, 1 / 2, 2) },
        { ...dara, ...counts(2, 0, 1, 1, 1 / 2, 4) },
        { id: null, name: null, ...counts(1, 0, 0, 0, null, null) },
      ]);
      expect(teams.map(({ name, open, dueToday, completed }) => [name, open, dueToday, completed])).toEqual([
        [null, 3, 1, 1],
        ['영업 1팀', 2, 2, 1],
        ['영업 2팀', 2, 1, 0],
      ]);
    },
  );

  it('todos report: lets the process do its other work while it counts', async () => {
    const stored = Array.from({ length: 2_000 }, (_, index) => {
      const record = SPELLINGS[0][1](`t${index}`, { done: true, doneAt: '2026-03-07T00:00:00.000Z' });
      return [`t${index}`, { known: { record } }] as const;
    });
    const store = {
      everyTodo: () => Readable.from([stored, stored]),
      lastSweep: () => Promise.resolve(null),
    };
    let others = 0;
    let ended = false;
    const work = (): void => {
      others += 1;
      if (!ended) setImmediate(work);
    };
    work();
    const one = { name: 'acme', timeZone: 'Asia/Seoul', enabled: true, store: store as unknown as TodoStore };
    const { workspaces } = await reportTodos([one], { since: '7d' }, { now: () => Date.parse(NOW) } as Clock);
    ended = true;
    expect(workspaces[0]?.total.completed).toBe(4_000);
    expect(others).toBeGreaterThanOrEqual(4_000 / 50);
  });

  it('todos report: a period that begins with a date begins with that day in each workspace', async () => {
    const store = { everyTodo: async function* () {}, lastSweep: () => Promise.resolve(null) } as unknown as TodoStore;
    const of = (timeZone: string) => ({ name: timeZone, timeZone, enabled: true, store });
    const clock = { now: () => Date.parse(NOW) } as Clock;
    const begin = async (since: string) =>
      (await reportTodos([of('Asia/Seoul'), of('America/Los_Angeles')], { since }, clock)).workspaces.map(
        (one) => one.since,
      );
    expect(await begin('2026-02-20')).toEqual(['2026-02-19T15:00:00.000Z', '2026-02-20T08:00:00.000Z']);
    expect(await begin('2026-02-20T09:00')).toEqual(['2026-02-20T00:00:00.000Z', '2026-02-20T17:00:00.000Z']);
    expect(await begin('2026-02-20T09:00Z')).toEqual(['2026-02-20T09:00:00.000Z', '2026-02-20T09:00:00.000Z']);
  });

  describe('todos report: of a workspace', () => {
    const redis = useRedis();
    const clock = { now: () => Date.parse(NOW) } as Clock;
    const report = (call = {}) => {
      const store = createTodoStore(redis.redis, redis.keys, 'acme');
      return reportTodos(
        [{ name: 'acme', timeZone: 'Asia/Seoul', enabled: true, store }],
        { since: '7d', ...call },
        clock,
      );
    };

    it('todos report: counts the stored todos without the deleted ones, and prints them as tables', async () => {
      const api = listedApi(all(SPELLINGS[0][1]));
      const list = sweptList(redis, api, 'todo');
      api.records.push(SPELLINGS[0][1]('gone'));
      await list.sweep();
      api.records.pop();
      await list.sweep();
      await list.sweep();
      const counted = await report();
      expect(counted).toMatchObject({
        since: '2026-03-02T18:30:00.000Z',
        at: NOW,
        workspaces: [{ total: { open: 6 } }],
      });
      const text = todosText(counted, noColours);
      expect(text).toMatch(/^workspace acme {2}completed 2026-03-03 to 2026-03-10 \(Asia\/Seoul\)/);
      expect(text).toMatch(/all todos {2}6 {5}3 {10}2 {8}2 {10}50 % {2}3 days/);
      expect(text).toMatch(/no person {2}1 {5}0 {10}0 {8}0 {10}— {5}—/);
      expect(text).toMatch(/no team {3}3/);
      const narrow = todosText(counted, noColours, 70).split('\n');
      expect(narrow.filter((line) => widthOf(line) > 70)).toEqual([]);
    });

    it.each([
      [{ workspace: 'other' }, /no workspace "other".*names acme/],
      [{ since: 'lately' }, /begins at "lately"; allowed: a duration such as 7d/],
      [{ since: '2030-01-01' }, /begins at "2030-01-01"/],
    ])('todos report: refuses %j', async (call, message) => {
      await expect(report(call)).rejects.toMatchObject({
        code: 'CF_USAGE',
        message: expect.stringMatching(message) as string,
      });
    });

    it('todos report: counts the due dates that are not understood, and shows one', async () => {
      const dues = ['2026/01/05 18:00 Asia/Seoul', '2026-01-05 18:00:00 KST', '2026-01-05', '2026-01-05T18:00', null];
      await sweptList(redis, listedApi(dues.map((due, n) => SPELLINGS[0][1](`t${n}`, { due }))), 'todo').sweep();
      const counted = await report();
      const example = expect.stringMatching(/^2026.01.05 18:00.{2,3}…$/) as string;
      expect(counted.workspaces[0]).toMatchObject({ strangeDue: { todos: 2, example }, total: { overdue: 2 } });
      expect(todosText(counted, noColours)).toMatch(
        /2 todos with .* such as "2026.*: never due\. Understood: 2026-03-01/,
      );
    });
  });
});
