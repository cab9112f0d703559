import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import type { CrmRecord } from '../../src/crm/record.js';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';

type Lists = Record<BuiltInList, CrmRecord[]>;

const clock = { now: () => Date.UTC(2026, 2, 1), sleep: () => Promise.resolve() };

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

test('sandbox world: an activity about a memo or todo has its date, and each memo or todo of a person has one activity', () => {
  holds((lists, { world }) => {
    const written = lists.activity.filter(({ type }) => type === 'memoCreate' || type === 'todoCreate');
    const dates = new Map(
      [...lists.memo, ...lists.todo].map((record) => [record.id, record['createdAt'] ?? record['생성 날짜']]),
    );
    for (const { memoId, todoId, date } of written) {
      const of = String(memoId ?? todoId);
      if (dates.has(of)) expect(date).toBe(dates.get(of));
    }
    const { memo, todo, activity } = world.sizes;
    if (activity < memo + todo) return;
    const subjects = written.map(({ memoId, todoId }) => String(memoId ?? todoId));
    expect(new Set(subjects).size).toBe(subjects.length);
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
