import { expect, it } from 'vitest';
import { Plan, type PlannedPage, type ShownPage, type PlanOptions } from '../../../../src/feed/list/shortcuts/plan.js';

const START = Date.UTC(2026, 2, 2);
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
  const pass = (seconds: number, answer: (page: PlannedPage) => ShownPage): number[] => {
    const pages: number[] = [];
    for (const endMs = clock.nowMs + 1_000 * seconds; clock.nowMs < endMs; clock.nowMs += 100) {
      const page = plan.next(clock.nowMs, null);
      if (page === null) continue;
      plan.taken(page, clock.nowMs);
      plan.answered(page, answer(page), clock.nowMs);
      pages.push(page.page);
    }
    return pages;
  };
  return { plan, clock, pass };
}

it('plan: a list with an interval is asked for at most sixty pages in that time', () => {
  const { pass } = planned({ intervalMs: 600_000 });
  let made = 0;
  const pages = pass(600, () => shown({ created: [`n${(made += 1)}`] }));
  expect(pages.length).toBeLessThanOrEqual(60);
});
