import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import type { CrmRecord } from '../../src/crm/record.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';

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

const newest = (records: CrmRecord[], stamp: string): string | null =>
  records
    .map((record) => String(record[stamp]))
    .sort()
    .at(-1) ?? null;

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

test('sandbox world: the latest note is the newest memo', () => {
  holds((lists) => {
    for (const [list, link] of [
      ['people', 'peopleId'],
      ['organization', 'organizationId'],
    ] as const) {
      for (const record of lists[list]) {
        const memos = lists.memo.filter((memo) => memo[link] === record.id);
        const at = newest(memos, 'createdAt');
        const texts = memos.filter(({ createdAt }) => createdAt === at).map(({ text }) => text);
        expect(record['최근 노트 작성일']).toBe(at);
        expect(texts.length === 0 ? [null] : texts).toContain(record['최근 작성된 노트']);
      }
    }
  });
});

test('sandbox world: deal counters add up, and ids refer to existing records', () => {
  holds((lists) => {
    const ids = Object.fromEntries(
      LIST_NAMES.map((list) => [list, new Set(lists[list].map(({ id }) => id))]),
    ) as Record<BuiltInList, Set<string>>;
    const leads = (record: CrmRecord, field: string, list: BuiltInList): void => {
      if (record[field] !== null) expect([...ids[list]]).toContain(record[field]);
    };
    for (const record of [...lists.people, ...lists.organization]) {
      const parts = ['진행중 딜 개수', '성사된 딜 개수', '실패된 딜 개수'].map((name) => Number(record[name]));
      expect(record['딜 개수']).toBe(parts.reduce((sum, part) => sum + part, 0));
    }
    for (const person of lists.people) leads(person, 'organizationId', 'organization');
    for (const record of [...lists.memo, ...lists.todo]) {
      leads(record, 'peopleId', 'people');
      leads(record, 'organizationId', 'organization');
    }
    for (const memo of lists.memo) {
      leads(memo, 'todoId', 'todo');
      leads(memo, 'parentId', 'memo');
    }
    for (const list of LIST_NAMES) expect(ids[list].size).toBe(lists[list].length);
  });
});

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
