import { expect, test } from 'vitest';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import { createSandbox } from '../../sandbox/sandbox.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 4, 6);
const at = (day: number): { now: () => number; sleep: () => Promise<void> } => ({
  now: () => START + day * DAY_MS + 7 * 3_600_000,
  sleep: () => Promise.resolve(),
});
const daysFromStart = (value: unknown): number => (Date.parse(String(value)) - START) / DAY_MS;

function recordsOf({ world }: ReturnType<typeof createSandbox>, list: (typeof LIST_NAMES)[number]) {
  return world
    .order(list)
    .slice(0, Infinity)
    .map((index) => world.image(list, index)!);
}

test('sandbox dates: todos are due around today, and were completed over the last weeks', () => {
  const todos = recordsOf(createSandbox({ people: 400, clock: at(0) }), 'todo');
  const open = todos.filter((todo) => todo['완료'] === false);
  const due = open.map((todo) => daysFromStart(todo['마지막 날짜']));
  expect(Math.min(...due)).toBeGreaterThan(-14);
  expect(Math.max(...due)).toBeLessThan(16);
  expect(due.filter((day) => day < 0).length / due.length).toBeLessThan(0.4);
  expect(due.filter((day) => day < 0).length / due.length).toBeGreaterThan(0.1);
  const done = todos.flatMap((todo) => (todo['완료'] === true ? [daysFromStart(todo['완료 날짜'])] : []));
  expect(new Set(done.filter((day) => day > -30).map(Math.floor)).size).toBe(30);
  for (const todo of todos) {
    const [created, completed] = [todo['생성 날짜'], todo['완료 날짜']].map(daysFromStart);
    expect(created).toBeLessThan(0);
    if (todo['완료'] === true) expect([completed! >= created!, completed! <= 0]).toEqual([true, true]);
  }
});

test('sandbox dates: a seed and a start give the same records on any day', () => {
  const imagesOf = (day: number, start?: number) => {
    const sandbox = createSandbox({ people: 20, clock: at(day), ...(start !== undefined && { start }) });
    return LIST_NAMES.map((list) => recordsOf(sandbox, list));
  };
  expect(imagesOf(40, START)).toEqual(imagesOf(0));
  expect(imagesOf(40)).not.toEqual(imagesOf(0));
});
