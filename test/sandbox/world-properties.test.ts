import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import type { CrmRecord } from '../../src/crm/record.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';

type Lists = Record<BuiltInList, CrmRecord[]>;

const clock = { now: () => Date.UTC(2026, 2, 1), monotonic: () => 0, sleep: () => Promise.resolve() };

const sizes = fc.record({
  seed: fc.nat(1_000),
  people: fc.nat(14),
  organizations: fc.nat(5),
  memos: fc.nat(40),
  todos: fc.nat(40),
  history: fc.nat(30),
  activity: fc.nat(90),
});
const worlds = fc.record({ sizes, steps: fc.nat(40) });

function imagesOf({ world }: Sandbox): Lists {
  const all = (list: BuiltInList): CrmRecord[] =>
    world
      .order(list)
      .slice(0, Infinity)
      .map((index) => world.image(list, index)!);
  return Object.fromEntries(LIST_NAMES.map((list) => [list, all(list)])) as Lists;
}

function lived({ sizes: given, steps }: { sizes: object; steps: number }): Sandbox {
  const sandbox = createSandbox({ ...given, clock });
  sandbox.step(steps);
  return sandbox;
}

const holds = (check: (lists: Lists, sandbox: Sandbox) => void): void =>
  fc.assert(
    fc.property(worlds, (drawn) => {
      const sandbox = lived(drawn);
      check(imagesOf(sandbox), sandbox);
    }),
    { numRuns: 10 },
  );

test('sandbox world: todo counters equal the todos, and the next todo is the open one with the earliest end', () => {
  holds((lists) => {
    for (const [list, link] of [
      ['people', 'peopleId'],
      ['organization', 'organizationId'],
    ] as const) {
      for (const record of lists[list]) {
        const todos = lists.todo.filter((todo) => todo[link] === record.id);
        const open = todos.filter((todo) => todo['완료'] === false);
        const ends = open.map((todo) => String(todo['마지막 날짜'])).sort();
        const next = open.filter((todo) => todo['마지막 날짜'] === ends[0]).map((todo) => todo['내용']);
        expect([record['전체 TODO'], record['완료 TODO'], record['미완료 TODO']]).toEqual([
          todos.length,
          todos.length - open.length,
          open.length,
        ]);
        expect(next.length === 0 ? ['없음'] : next).toContain(record['다음 TODO']);
      }
    }
  });
});

test('sandbox journal: replayed on the initial records, it gives the current ones', () => {
  fc.assert(
    fc.property(worlds, ({ sizes: given, steps }) => {
      const sandbox = createSandbox({ ...given, clock });
      const images = new Map(
        LIST_NAMES.flatMap((list) => imagesOf(sandbox)[list].map((record) => [record.id, record] as const)),
      );
      sandbox.step(steps);
      for (const line of sandbox.journal.lines()) {
        if (line.line !== 'mutation') continue;
        expect(images.get(line.id) ?? null).toEqual(line.before);
        if (line.after === null) images.delete(line.id);
        else images.set(line.id, line.after);
      }
      const last = new Map(
        LIST_NAMES.flatMap((list) => imagesOf(sandbox)[list].map((record) => [record.id, record] as const)),
      );
      expect(images).toEqual(last);
    }),
    { numRuns: 10 },
  );
});
