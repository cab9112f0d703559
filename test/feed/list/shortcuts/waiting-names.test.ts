import { describe, expect, it } from 'vitest';
import type { ShownPage } from '../../../../src/feed/list/shortcuts/plan.js';
import { WaitingNames } from '../../../../src/feed/list/shortcuts/waiting-names.js';

const NAMED = Date.UTC(2026, 2, 2) + 700;
const MEMO = new Set(['crm.memo.created']);
const pageOf = (id: string): number | null => (id.startsWith('p') ? Number(id.slice(1)) : null);

function waiting(ids: readonly string[], atMs = NAMED): WaitingNames {
  const names = new WaitingNames();
  for (const id of ids) names.add(id, { atMs, by: MEMO });
  return names;
}

/** Page 5 was requested then, and has answered. */
function looked(names: WaitingNames, { askedAtMs = NAMED, ...more }: Partial<ShownPage> & { askedAtMs?: number }) {
  names.taken(['p5']);
  const shown = {
    keys: ['p5'],
    created: [],
    rewritten: [],
    left: 0,
    isOutdated: false,
    nextCursor: null,
    open: [],
    ...more,
  };
  return names.lookedUp({ page: 5, ids: ['p5'], shown, askedAtMs });
}
const pages = (names: WaitingNames): number[] => [...names.byPage(pageOf).byPage.keys()];

describe('waiting names', () => {
  it('waiting names: a page that was requested after a change is not requested again for it, unless the time may be cut to the second', () => {
    const again = (atMs: number, askedAtMs: number): boolean => {
      const names = waiting(['p5']);
      looked(names, { askedAtMs });
      names.add('p5', { atMs, by: new Set(['another']) });
      return pages(names).includes(5);
    };
    expect([again(NAMED, NAMED + 200), again(NAMED, NAMED + 300)]).toEqual([true, false]);
    const second = NAMED + 300;
    expect([again(second, second + 900), again(second, second + 1_000)]).toEqual([true, false]);
  });

  it('waiting names: only the last thousand wait', () => {
    const names = waiting(Array.from({ length: 1_100 }, (_, n) => `p${n}`));
    expect([names.size, pages(names)[0]]).toEqual([1_000, 100]);
  });

  it('waiting names: whether a name was right is known when its record was shown, unless changes were left to the walk', () => {
    const judged = (more: Partial<ShownPage>) => looked(waiting(['p5']), more).map(({ hadChanged }) => hadChanged);
    expect(judged({})).toEqual([false]);
    expect(judged({ rewritten: ['p5'] })).toEqual([true]);
    expect(judged({ rewritten: ['p5'], left: 1 })).toEqual([true]);
    expect(judged({ left: 1 })).toEqual([]);
    expect(judged({ keys: ['another'] })).toEqual([]);
  });
});
