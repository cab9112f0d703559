import { describe, expect, it } from 'vitest';
import {
  DEFAULT_CREATIONS,
  isReplaced,
  decideCreations,
  type CreationGuard,
  type CreationRules,
  type CreationDecision,
} from '../../src/detect/creation.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';

interface Walk {
  /** Stored records. */
  before: number;
  /** The pages of the list: stored and new records on each. */
  pages: readonly (readonly [known: number, fresh: number])[];
  list?: BuiltInList;
  rules?: CreationRules;
  allowed?: number;
  /** Creations reported by the last sweep before it held the others. */
  reported?: number;
}

/** The decision for each page of a walk. Ends where the list is walked again. */
function decisions({
  before,
  pages,
  list = 'people',
  rules = DEFAULT_CREATIONS,
  allowed = 0,
  ...last
}: Walk): CreationDecision[] {
  const guard: CreationGuard = { list, rules, before, reported: last.reported ?? null };
  const decisions: CreationDecision[] = [];
  let [seen, fresh, withheld] = [0, 0, 0];
  for (const [nth, [known, freshOnPage]] of pages.entries()) {
    seen += known + freshOnPage;
    fresh += freshOnPage;
    const tally = { fresh, allowed, ...(decisions.includes('withhold') && ({ withholds: true } as const)) };
    const ended = nth === pages.length - 1;
    const decision = decideCreations({ tally, seen, withheld, freshOnPage, ended }, guard);
    decisions.push(decision);
    if (decision === 'walk again') break;
    if (decision !== 'report') withheld += freshOnPage;
  }
  return decisions;
}

const times = (count: number, page: readonly [number, number]) => Array.from({ length: count }, () => page);

describe('creations: an import', () => {
  it.each<[string, Walk]>([
    ['of 30 into a list of 20, all on one page', { before: 20, pages: [[20, 30]] }],
    ['of 3,000 at the end of 5,000', { before: 5_000, pages: [...times(100, [50, 0]), ...times(60, [0, 50])] }],
    ['of a few records on the first page', { before: 5_000, pages: [[45, 5], ...times(99, [50, 0])] }],
    ['of 60 spread over a list of 500', { before: 500, pages: times(10, [44, 6]) }],
    ['of 100 into an empty list', { before: 0, pages: times(2, [0, 50]) }],
  ])('%s is reported at once', (_what, walk) => {
    expect(new Set(decisions(walk))).toEqual(new Set(['report']));
  });

  it.each<[string, Walk, number]>([
    ['of 60 at the front', { before: 5_000, pages: [...[[0, 50] as const], [40, 10], ...times(99, [50, 0])] }, 3],
    ['of 3,000 at the front', { before: 5_000, pages: [...times(60, [0, 50]), ...times(100, [50, 0])] }, 120],
    [
      'of 3,000 in the middle',
      { before: 5_000, pages: [...times(50, [50, 0]), ...times(60, [0, 50]), ...times(50, [50, 0])] },
      120,
    ],
    ['of 30 in front of 20, in small pages', { before: 20, pages: [...times(5, [0, 6]), ...times(4, [5, 0])] }, 9],
  ])('%s is withheld until as much of the list is seen, then walked again', (_what, walk, pages) => {
    const found = decisions(walk);
    expect(found.indexOf('walk again') + 1).toBe(pages);
    expect(found).not.toContain('hold');
  });

  it('is reported in the second walk, also when a few more records have come meanwhile', () => {
    const pages = [...times(61, [0, 50]), ...times(100, [50, 0])];
    expect(new Set(decisions({ before: 5_000, allowed: 3_300, pages }))).toEqual(new Set(['report']));
  });
});

describe('creations: a replaced list', () => {
  it.each<[string, Walk]>([
    ['of 50 records by 50, on one page', { before: 50, pages: [[0, 50]] }],
    ['of 50 records by 50, in small pages', { before: 50, pages: times(10, [0, 5]) }],
    ['of 10 records by 3', { before: 10, pages: [[0, 3]] }],
    ['of 2,000 records by 2,000', { before: 2_000, pages: times(40, [0, 50]) }],
    ['of which a few are left', { before: 2_000, pages: [[3, 47], ...times(39, [0, 50])] }],
    ['of history entries', { list: 'history', before: 2_000, pages: times(40, [0, 50]) }],
  ])('%s is held, and nothing of it is reported', (_what, walk) => {
    const found = decisions(walk);
    expect(found.at(-1)).toBe('hold');
    expect(found).not.toContain('report');
  });

  it('is one of which less than a tenth is seen again, and that had ten records or more', () => {
    const shares = [
      { seen: 0, of: 9 },
      { seen: 0, of: 10 },
      { seen: 1, of: 10 },
      { seen: 9, of: 100 },
    ];
    expect(shares.map(isReplaced)).toEqual([false, true, false, true]);
  });

  it('is reported when the guard is switched off (control)', () => {
    const rules = { maxShare: 1, maxCount: 100 };
    expect(decisions({ before: 50, rules, pages: times(10, [0, 5]) })).toEqual(times(10, [0, 0]).map(() => 'report'));
  });
});

describe('creations: a list that grows beyond its own size', () => {
  const pages = [...times(40, [50, 0] as const), ...times(100, [0, 50] as const)];

  it('is held: 5,000 new people in a list of 2,000', () => {
    expect(decisions({ before: 2_000, pages }).at(-1)).toBe('hold');
  });

  it('stays held, sweep after sweep, although the reported part of it is stored by now', () => {
    const next = [...times(80, [50, 0] as const), ...times(60, [0, 50] as const)];
    expect(decisions({ before: 2_000, reported: 2_000, pages: next })).toEqual([
      ...times(139, [0, 0]).map(() => 'withhold'),
      'hold',
    ]);
    expect(new Set(decisions({ before: 2_000, reported: 2_000, allowed: 5_500, pages: next }))).toEqual(
      new Set(['report']),
    );
  });

  it('is reported where rows never leave: 5,000 new history entries after a weekend', () => {
    expect(decisions({ list: 'history', before: 2_000, pages }).at(-1)).toBe('walk again');
    expect(new Set(decisions({ list: 'history', before: 2_000, allowed: 5_500, pages }))).toEqual(new Set(['report']));
  });

  it('is held when stored rows are missing too', () => {
    const half = [...times(20, [50, 0] as const), ...times(100, [0, 50] as const)];
    expect(decisions({ list: 'activity', before: 2_000, pages: half }).at(-1)).toBe('hold');
  });
});
