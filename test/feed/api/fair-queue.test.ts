import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RequestKind, WalkLoad } from '../../../src/feed/api/budget.js';
import { createFairQueue, walkWeights } from '../../../src/feed/api/fair-queue.js';

interface Asked {
  list: string;
  kind: RequestKind;
  value?: (nowMs: number) => number;
}

/** Queues in which each of these always has one request that waits. Returns what the next `grants` requests were. */
function granted(queue: ReturnType<typeof createFairQueue<Asked>>, waiting: readonly Asked[], grants: number): Asked[] {
  for (const asked of waiting) queue.add(asked, asked);
  return Array.from({ length: grants }, () => {
    const next = queue.next(0);
    if (next === undefined) throw new Error('Nothing was waiting.');
    queue.add(next, next);
    return next;
  });
}

const countOf = (all: readonly Asked[], wanted: Partial<Asked>): number =>
  all.filter(({ list, kind }) => (wanted.list ?? list) === list && (wanted.kind ?? kind) === kind).length;
const walk = (list: string): Asked => ({ list, kind: 'walk' });

const loads = fc.uniqueArray(
  fc.record({
    list: fc.string({ minLength: 1, maxLength: 8 }),
    pages: fc.integer({ min: 1, max: 5_000 }),
    changesPerSecond: fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 100, noNaN: true })),
  }),
  { selector: ({ list }) => list, minLength: 1, maxLength: 8 },
);

it('budget: a list gets the part of the requests that its weight says, whatever the weights', () => {
  fc.assert(
    fc.property(loads, (lists) => {
      const queue = createFairQueue<Asked>();
      for (const { list, ...load } of lists) queue.weigh(list, load);
      const weights = walkWeights(new Map(lists.map(({ list, ...load }) => [list, load])));
      const got = granted(
        queue,
        lists.map(({ list }) => walk(list)),
        2_000,
      );
      for (const [list, weight] of weights) {
        const due = (2_000 * weight) / lists.length;
        expect(Math.abs(countOf(got, { list }) - due)).toBeLessThanOrEqual(lists.length + 1);
      }
    }),
  );
});

it('budget: no sweep takes longer than four walks of all lists in the whole budget, whatever part of it walks get', () => {
  fc.assert(
    fc.property(loads, fc.double({ min: 0.6, max: 1, noNaN: true }), (lists, walkPart) => {
      const weights = walkWeights(new Map(lists.map(({ list, ...load }) => [list, load])), walkPart);
      const allPages = lists.reduce((sum, { pages }) => sum + pages, 0);
      for (const { list, pages } of lists) {
        // In requests of all lists together.
        const sweep = (pages * lists.length) / (weights.get(list) ?? 0) / walkPart;
        expect(sweep).toBeLessThanOrEqual(4 * allPages + 1e-6);
      }
    }),
  );
});

it('budget: background lists together get a tenth', () => {
  const lists: [string, WalkLoad][] = [
    ['people', { pages: 100, changesPerSecond: 1 }],
    ['memo', { pages: 100, changesPerSecond: 0 }],
    ['history', { pages: 3_000, changesPerSecond: 9, isBackground: true }],
    ['lead_history', { pages: 1_000, changesPerSecond: 0, isBackground: true }],
  ];
  const weights = walkWeights(new Map(lists), 0.8);
  const sum = (names: string[]): number => names.reduce((all, list) => all + (weights.get(list) ?? 0), 0);
  expect(sum(['history', 'lead_history']) / sum(lists.map(([list]) => list))).toBeCloseTo(0.1);
});

it('budget: a list that has asked for nothing yet gets no credit for that time', () => {
  const queue = createFairQueue<Asked>();
  const got = [...granted(queue, [walk('a')], 1_000), ...granted(queue, [walk('b')], 100)];
  expect(Math.abs(countOf(got.slice(1_000), { list: 'b' }) - 50)).toBeLessThanOrEqual(1);
});

it('budget: a list asks for one page after the other and still gets its part', () => {
  const queue = createFairQueue<Asked>();
  queue.weigh('large', { pages: 900, changesPerSecond: 0 });
  queue.weigh('small', { pages: 100, changesPerSecond: 0 });
  const got = granted(queue, [walk('large'), walk('small')], 1_000);
  expect(Math.abs(countOf(got, { list: 'small' }) - 100)).toBeLessThanOrEqual(1);
});

const tails = ['history', 'memo'].map((list): Asked => ({ list, kind: 'tail' }));
const aimed: Asked = { list: 'people', kind: 'aimed' };

it('budget: come first, and get at most their share while walks wait', () => {
  const got = granted(createFairQueue<Asked>(0.25), [walk('people'), walk('todo'), ...tails, aimed], 400);
  expect(got[0]!.kind).toBe('tail');
  expect(countOf(got, { kind: 'walk' })).toBeGreaterThanOrEqual(299);
  expect(countOf(got, { kind: 'walk' })).toBeLessThanOrEqual(300);
});

it('budget: the most valuable urgent request comes first, by its value when it is sent', () => {
  const queue = createFairQueue<string>();
  queue.add({ list: 'memo', kind: 'tail', value: (nowMs) => nowMs / 1_000 }, 'grows');
  queue.add({ list: 'people', kind: 'aimed', value: () => 0.5 }, 'stays');
  queue.add({ list: 'todo', kind: 'tail' }, 'worth nothing');
  expect([queue.next(400), queue.next(400), queue.next(400)]).toEqual(['stays', 'grows', 'worth nothing']);
  queue.add({ list: 'people', kind: 'aimed', value: () => 0.5 }, 'stays');
  queue.add({ list: 'memo', kind: 'tail', value: (nowMs) => nowMs / 1_000 }, 'grows');
  expect(queue.next(600)).toBe('grows');
});

it('budget: never more than the share in any run of requests', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0.2, 0.25, 1 / 3, 0.5),
      fc.array(fc.boolean(), { maxLength: 200 }),
      (share, urgents) => {
        const queue = createFairQueue<Asked>(share);
        queue.add(walk('people'), walk('people'));
        let urgent = 0;
        urgents.forEach((arrives, at) => {
          if (arrives) queue.add(aimed, aimed);
          const next = queue.next(0)!;
          if (next.kind === 'walk') queue.add(next, next);
          else urgent += 1;
          expect(urgent).toBeLessThanOrEqual(Math.ceil((at + 1) * share) + 1);
        });
      },
    ),
  );
});

it('budget: get everything while no walk waits', () => {
  expect(countOf(granted(createFairQueue<Asked>(), [aimed], 50), { kind: 'aimed' })).toBe(50);
});

it('budget: one that no longer waits is skipped', () => {
  const queue = createFairQueue<Asked>();
  queue.add(aimed, aimed);
  queue.add(walk('todo'), tails[0]!);
  queue.remove(aimed);
  expect([queue.size, queue.next(0), queue.next(0), queue.size]).toEqual([1, tails[0], undefined, 0]);
});
