import { describe, expect, it } from 'vitest';
import { Plan, type PlannedPage, type ShownPage, type PlanOptions } from '../../../../src/feed/list/shortcuts/plan.js';

const START = Date.UTC(2026, 2, 2);
const pageOf = (id: string): number | null => (id.startsWith('p') ? Number(id.slice(1)) : null);
const shown = (more: Partial<ShownPage> = {}): ShownPage => ({
  ...{ keys: ['x'], created: [], rewritten: [], left: 0, isOutdated: false, nextCursor: null, open: [] },
  ...more,
});

/** A sweep of one minute that is complete now. */
const swept = (pages: number, nowMs: number) => ({
  ...{ pages, startedMs: nowMs - 60_000, completedMs: nowMs, lastCursor: `c${pages}` },
});

function planned(options: Partial<PlanOptions> = {}) {
  const plan = new Plan({ requestsPerSecond: 8, intervalMs: null, ...options });
  plan.anchor(swept(20, START), START);
  const clock = { nowMs: START };
  const read = (answer: (page: PlannedPage) => ShownPage | null = () => shown()): number | null => {
    const page = plan.next(clock.nowMs, pageOf);
    if (page === null) return null;
    plan.taken(page, clock.nowMs);
    plan.answered(page, answer(page), clock.nowMs);
    return page.page;
  };
  const pass = (seconds: number, answer?: Parameters<typeof read>[0]): number[] => {
    const pages: number[] = [];
    for (const endMs = clock.nowMs + 1_000 * seconds; clock.nowMs < endMs; clock.nowMs += 100) {
      const page = read(answer);
      if (page !== null) pages.push(page);
    }
    return pages;
  };
  const name = (ids: readonly string[], by = 'crm.memo.created'): void => {
    plan.name(
      ids.map((id) => ({ id, by, atMs: clock.nowMs })),
      clock.nowMs,
    );
  };
  return { plan, clock, read, pass, name };
}
const looked =
  (isChanged: boolean) =>
  ({ ids }: PlannedPage): ShownPage =>
    shown({ keys: ids, rewritten: isChanged ? ids : [] });
const times = (pages: readonly number[], page: number): number => pages.filter((one) => one === page).length;

describe('plan: the ends of a list', () => {
  it('plan: a list with an interval is asked for at most sixty pages in that time', () => {
    const { pass } = planned({ intervalMs: 600_000 });
    let made = 0;
    const pages = pass(600, () => shown({ created: [`n${(made += 1)}`] }));
    expect(pages.length).toBeLessThanOrEqual(60);
  });
});

describe('plan: open records', () => {
  const due = (hours: number): number => Math.round(START / 3_600_000) + hours;

  it('plan: a page with open records is read again and again, the more often the nearer they are due', () => {
    const { plan, pass } = planned();
    const open = new Map([
      [5, Array.from({ length: 40 }, () => due(0))],
      [6, Array.from({ length: 40 }, () => due(720))],
    ]);
    for (const [page, records] of open) plan.knows(page, records, START);
    const pages = pass(1_200, ({ page }) => shown({ open: open.get(page) ?? [] }));
    expect(times(pages, 5)).toBeGreaterThan(4 * times(pages, 6));
    expect(times(planned().pass(1_200), 5)).toBe(0);
  });
});

describe('plan: named records', () => {
  it('plan: what named records that had hardly ever changed is not looked up, until this has been long ago', () => {
    const { clock, name, pass } = planned();
    for (let n = 2; n < 19; n += 1) {
      name([`p${n}`], 'never');
      pass(2, looked(false));
    }
    name(['p5'], 'never');
    expect(pass(10, looked(false))).not.toContain(5);
    clock.nowMs += 7_200_000;
    name(['p6'], 'never');
    expect(pass(10, looked(false))).toContain(6);
  });

  it('plan: a page is read at most once a second, and not again for what was named before', () => {
    const { clock, name, read } = planned();
    read();
    read();
    name(['p5']);
    expect(read(looked(true))).toBe(5);
    name(['p5']);
    clock.nowMs += 900;
    expect(read(looked(true))).toBeNull();
    clock.nowMs += 200;
    expect([read(looked(true)), read(looked(true))]).toEqual([5, null]);
  });
});
