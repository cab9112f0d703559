import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TODO_STATES, type TodoGroup } from '../../../src/crm/todo-counts.js';
import type { Clock } from '../../../src/kit/clock.js';
import { reportTodos } from '../../../src/feed/todos/report.js';
import { listTodos, TODO_SORTS, type TodoRowsCall } from '../../../src/feed/todos/rows.js';
import type { TodoStore } from '../../../src/feed/todos/todo-store.js';
import { SPELLINGS, written, type Said, type Spelling } from '../../support/todos.js';

const NOW = '2026-03-09T18:30:00.000Z';
const HOUR_MS = 3_600_000;
const clock = { now: () => Date.parse(NOW) } as Clock;
const PEOPLE: Readonly<Record<string, { id: string }>> = { p1: Object.assign({ id: 'p1' }, { 이름: '한지호' }) };
const deps = {
  clock,
  find: (list: string, id: string) => Promise.resolve(list === 'people' ? (PEOPLE[id] ?? null) : null),
  linksOf: () => new Map([['todo', 'https://crm.example/todo/{id}']]),
};

function workspaceOf(name: string, todos: readonly (Said & { more?: object })[], spell: Spelling = written) {
  const stored = todos.map(({ more, ...said }, at) => {
    const record = { ...spell(`t${at}`, said), ...more };
    return [`t${at}`, { known: { record, state: 'present' } }] as const;
  });
  const store = {
    everyTodo: () => Readable.from([stored.slice(0, 3), stored.slice(3)]),
    lastSweep: () => Promise.resolve(null),
  };
  return { name, timeZone: 'Asia/Seoul', enabled: true, store: store as unknown as TodoStore };
}

const time = fc
  .integer({ min: -300, max: 300 })
  .map((hours) => new Date(Date.parse(NOW) + hours * HOUR_MS).toISOString());
const named = fc.constantFrom('1', '2', '3').map((one) => ({ id: `u${one}`, name: `이름 ${one}` }));
const todo = fc.record({
  done: fc.boolean(),
  due: fc.option(
    fc.oneof(
      time,
      time.map((iso) => iso.slice(0, 10)),
      fc.constant('언젠가'),
    ),
  ),
  doneAt: fc.option(time),
  owner: fc.option(named),
  team: fc.uniqueArray(named, { selector: ({ id }) => id, maxLength: 2 }),
});

it('todo rows: behind each number of a report stand as many rows, of everyone, each person, each team, and of nobody', async () => {
  const cases = fc.asyncProperty(
    fc.array(todo, { maxLength: 12 }),
    fc.constantFrom(...SPELLINGS),
    fc.constantFrom(...TODO_SORTS),
    fc.constantFrom('', '-'),
    fc.integer({ min: 1, max: 5 }),
    async (todos, [, spell], sort, direction, limit) => {
      const workspaces = [workspaceOf('acme', todos, spell), workspaceOf('other', todos.slice(0, 2), spell)];
      const report = await reportTodos(workspaces, { since: '7d' }, clock);
      const idsBehind = async (call: TodoRowsCall): Promise<{ ids: string[]; counts: number[] }> => {
        const [ids, counts]: [string[], number[]] = [[], []];
        for (let from: string | undefined; ;) {
          const { rows, count, next } = await listTodos(
            workspaces,
            { ...call, since: '7d', sort: direction + sort, limit, from },
            deps,
          );
          ids.push(...rows.map((row) => `${row.workspace} ${row.id}`));
          counts.push(count);
          if (next === null) return { ids, counts };
          from = next;
        }
      };
      for (const { workspace, total, people, teams } of report.workspaces) {
        const asked: [group: Pick<TodoGroup, 'open' | 'dueToday' | 'overdue' | 'completed'>, of: object][] = [
          [total, {}],
          ...people.map((one) => [one, { owner: one.id ?? 'none' }] as [TodoGroup, object]),
          ...teams.map((one) => [one, { team: one.id ?? 'none' }] as [TodoGroup, object]),
        ];
        for (const [group, of] of asked) {
          for (const show of TODO_STATES) {
            const { ids, counts } = await idsBehind({ show, workspace, ...of });
            const found = { of, show, rows: ids.length, different: new Set(ids).size, counts: [...new Set(counts)] };
            const wanted = group[show];
            expect(found).toEqual({ of, show, rows: wanted, different: wanted, counts: [wanted] });
          }
        }
      }
    },
  );
  await fc.assert(cases, { numRuns: 25 });
});

it('todo rows: say whose, about whom, until when, how late, and lead to the CRM; the earliest due first', async () => {
  const owner = { id: 'u1', name: '가나' };
  const acme = workspaceOf('acme', [
    { due: '2026-03-09T17:00:00.000Z' },
    { due: '2026-03-06T18:00:00.000Z', owner, team: [{ id: 't', name: '영업 1팀' }], more: { peopleId: 'p1' } },
    { due: '2026-03-20T00:00:00.000Z', owner },
    {},
  ]);
  const { rows, count } = await listTodos([acme], { show: 'overdue' }, deps);
  expect(count).toBe(2);
  expect(rows).toEqual([
    {
      ...{ workspace: 'acme', id: 't1', title: '전화하기', owner, teams: ['영업 1팀'] },
      about: { list: 'people', id: 'p1', name: '한지호' },
      ...{ due: '2026-03-06T18:00:00.000Z', completedAt: null, done: false, daysLate: 3 },
      link: 'https://crm.example/todo/t1',
    },
    expect.objectContaining({ id: 't0', owner: null, about: null, daysLate: 0 }),
  ]);
  const open = await listTodos([acme], { show: 'open', owner: '가나' }, deps);
  expect(open.rows.map(({ id, daysLate }) => [id, daysLate])).toEqual([
    ['t1', 3],
    ['t2', null],
  ]);
  await expect(listTodos([acme], { show: 'open', sort: 'grade' }, deps)).rejects.toThrow(
    'due, completed, owner, title',
  );
  await expect(listTodos([acme], { show: 'open', from: 'x' }, deps)).rejects.toMatchObject({ code: 'CF_USAGE' });
});
