import { describe, expect, it } from 'vitest';
import type { PageAnswer } from '../../../src/sweep/shortcuts/answers.js';
import { Plan, type PlannedPage, type PlanOptions } from '../../../src/sweep/shortcuts/plan.js';

const START = Date.UTC(2026, 2, 2);
/** Record `p7` stands on page 7. */
const pageOf = (id: string): number | null => (id.startsWith('p') ? Number(id.slice(1)) : null);
const shown = (more: Partial<PageAnswer> = {}): PageAnswer => ({
  ...{ keys: ['x'], created: [], rewritten: [], left: 0, isOutdated: false, nextCursor: null, open: [] },
  ...more,
});

/** A sweep of one minute that is complete now. */
const swept = (pages: number, nowMs: number) => ({
  ...{ pages, startedMs: nowMs - 60_000, completedMs: nowMs, lastCursor: `c${pages}` },
});

/** A plan of a list of 20 pages, whose last page has the cursor `c20`. */
function planned(options: Partial<PlanOptions> = {}) {
  const plan = new Plan({ requestsPerSecond: 8, intervalMs: null, ...options });
  plan.anchor(swept(20, START), START);
  const clock = { nowMs: START };
  const read = (answer: (page: PlannedPage) => PageAnswer | null = () => shown()): number | null => {
    const page = plan.next(clock.nowMs, pageOf);
    if (page === null) return null;
    plan.taken(page, clock.nowMs);
    plan.answered(page, answer(page), clock.nowMs);
    return page.page;
  };
  /** The pages that are read in so many seconds, in steps of 100 ms. */
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
  ({ ids }: PlannedPage): PageAnswer =>
    shown({ keys: ids, rewritten: isChanged ? ids : [] });
const times = (pages: readonly number[], page: number): number => pages.filter((one) => one === page).length;

describe('plan: the ends of a list', () => {
  it('plan: an end is polled every second while records appear there, and an end without any hardly ever', () => {
    const { pass } = planned();
    let made = 0;
    const growing = ({ page }: PlannedPage): PageAnswer => shown({ created: page === 20 ? [`n${(made += 1)}`] : [] });
    pass(60, growing);
    const pages = pass(60, growing);
    expect(times(pages, 20)).toBeGreaterThan(50);
    expect(times(pages, 1)).toBeLessThan(2);
  });

  it('plan: a new row counts as eight changes, and one that is read for what it names as half of one', () => {
    const pollsPerMinute = (namesOnly: boolean): number => {
      const { clock, pass } = planned({ namesOnly });
      let rows = 0;
      // Three rows a minute.
      const growing = ({ page }: PlannedPage): PageAnswer => {
        const isGrown = page === 20 && clock.nowMs - START >= rows * 20_000;
        return shown({ created: isGrown ? [`n${(rows += 1)}`] : [] });
      };
      pass(3_600, growing);
      return times(pass(600, growing), 20) / 10;
    };
    expect(Math.round(pollsPerMinute(false))).toBe(55);
    expect(Math.round(pollsPerMinute(true))).toBe(15);
  });

  it('plan: an end where nothing appears is polled for one of sixty requests of the budget, at least every 15 s', () => {
    const quiet = (requestsPerSecond: number): number => {
      const { pass } = planned({ requestsPerSecond });
      // What was assumed at first fades.
      pass(3_600);
      return times(pass(600), 20) / 600;
    };
    expect(quiet(8)).toBeCloseTo(1 / 7.5, 1);
    expect(quiet(1)).toBeCloseTo(1 / 15, 1);
  });

  it('plan: a list with an interval is asked for at most sixty pages in that time', () => {
    const { pass } = planned({ intervalMs: 600_000 });
    let made = 0;
    const pages = pass(600, () => shown({ created: [`n${(made += 1)}`] }));
    expect(pages.length).toBeLessThanOrEqual(60);
  });

  it('plan: the end moves with the pages that follow it', () => {
    const { pass } = planned();
    const pages = pass(5, ({ page }) =>
      page === 1 ? shown() : shown({ created: ['n'], nextCursor: page < 23 ? `c${page + 1}` : null }),
    );
    expect(pages.filter((page) => page !== 1).slice(0, 4)).toEqual([20, 21, 22, 23]);
  });

  it('plan: full pages without a new record are not the end, which then waits for the next complete sweep', () => {
    const { plan, clock, pass } = planned();
    const endless = ({ page }: PlannedPage): PageAnswer => shown({ nextCursor: `c${page + 1}` });
    expect(pass(300, endless).filter((page) => page !== 1)).toEqual([20, 21, 22, 23]);
    plan.anchor(swept(30, clock.nowMs), clock.nowMs);
    clock.nowMs += 60_000;
    expect(pass(300, endless)).toContain(30);
  });

  it('plan: new records that the walk finds at an end are those of its polls, while it has polls', () => {
    const { plan, clock, pass } = planned();
    const found = (page: number): number => plan.walked({ page, created: 3, changed: 0, open: [] }, clock.nowMs);
    expect([found(20), found(1), found(10)]).toEqual([3, 3, 0]);
    // Full pages without a new record: this is not the end.
    pass(300, ({ page }) => shown({ nextCursor: `c${page + 1}` }));
    expect(found(20)).toBe(0);
  });

  it('plan: new records that the walk finds elsewhere halve the value of both ends', () => {
    const { plan, clock, pass } = planned();
    pass(300);
    const before = pass(300).length;
    for (let n = 0; n < 6; n += 1) plan.walked({ page: 10, created: 3, changed: 0, open: [] }, clock.nowMs);
    expect(pass(300).length).toBeLessThan(before / 8);
    // It is tried again later.
    clock.nowMs += 7_200_000;
    expect(pass(300).length).toBeGreaterThan(before / 2);
  });
});

describe('plan: open records', () => {
  const due = (hours: number): number => Math.round(START / 3_600_000) + hours;
  /** Pages 5 and 6, with open records that are due now and in thirty days. */
  function withOpen() {
    const one = planned();
    const open = new Map([
      [5, Array.from({ length: 40 }, () => due(0))],
      [6, Array.from({ length: 40 }, () => due(720))],
    ]);
    for (const [page, records] of open) one.plan.knows(page, records, START);
    /** So many of the records of a page change per second. */
    const changing =
      (perSecond: number, readMs = new Map<number, number>()) =>
      ({ page }: PlannedPage): PageAnswer => {
        const seconds = (one.clock.nowMs - (readMs.get(page) ?? one.clock.nowMs)) / 1_000;
        readMs.set(page, one.clock.nowMs);
        const rewritten = page === 5 ? Array.from({ length: Math.round(perSecond * seconds) }, (_, n) => `r${n}`) : [];
        return shown({ rewritten, open: open.get(page) ?? [] });
      };
    return { ...one, changing };
  }

  it('plan: a page with open records is read again and again, the more often the nearer they are due', () => {
    const { pass } = withOpen();
    const pages = pass(1_200, ({ page }) => shown({ open: page === 5 ? [due(0), due(1)] : [] }));
    expect(times(pages, 5)).toBeGreaterThan(0);
    expect(times(planned().pass(1_200), 5)).toBe(0);
    const { pass: both, changing } = withOpen();
    const read = both(1_200, changing(0));
    expect(times(read, 5)).toBeGreaterThan(4 * times(read, 6));
  });

  it('plan: how often is learned from the changes that these reads find', () => {
    const often = withOpen();
    const seldom = withOpen();
    often.pass(600, often.changing(0.2));
    seldom.pass(600, seldom.changing(0));
    const reads = [often.pass(300, often.changing(0.2)), seldom.pass(300, seldom.changing(0))];
    expect(times(reads[0]!, 5)).toBeGreaterThan(100);
    expect(times(reads[1]!, 5)).toBeLessThan(30);
  });

  it('plan: what the walk reads need not be read again, and a page without open records is left', () => {
    const { plan, clock, pass, changing } = withOpen();
    pass(600, changing(0.2));
    const valueOf = (page: number): number => {
      const next = plan.next(clock.nowMs, pageOf);
      return next?.page === page ? next.value(clock.nowMs) : 0;
    };
    clock.nowMs += 60_000;
    expect(valueOf(5)).toBeGreaterThan(1);
    plan.walked({ page: 5, created: 0, changed: 3, open: [due(0)] }, clock.nowMs);
    expect(valueOf(5)).toBe(0);
    plan.walked({ page: 5, created: 0, changed: 0, open: [] }, clock.nowMs);
    expect(times(pass(600), 5)).toBe(0);
  });

  it('plan: an answer that is older than what is stored halves the value of such pages', () => {
    const { pass, changing, plan, clock } = withOpen();
    pass(600, changing(0.2));
    const before = times(pass(60, changing(0.2)), 5);
    pass(30, ({ page }) => (page === 5 ? shown({ isOutdated: true }) : shown()));
    expect(plan.learned().uses.open.wrong).toBeGreaterThan(2);
    clock.nowMs += 1_000;
    expect(
      times(
        pass(60, ({ page }) => (page === 5 ? shown({ isOutdated: true }) : shown())),
        5,
      ),
    ).toBeLessThan(before / 2);
  });
});

describe('plan: named records', () => {
  it('plan: the page with the most that is expected comes first, and all records on it are looked up together', () => {
    const { name, pass } = planned();
    pass(4);
    name(['p3', 'p4', 'p4'], 'seldom');
    pass(2, looked(false));
    name(['p6'], 'often');
    pass(2, looked(true));
    name(['p7'], 'seldom');
    name(['p8'], 'often');
    expect(pass(3, looked(true)).filter((page) => page > 6 && page < 9)).toEqual([8, 7]);
  });

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

  it('plan: what named records that had not changed a few times in a row is looked up', () => {
    const { name, pass } = planned();
    for (let n = 2; n < 12; n += 1) {
      name([`p${n}`]);
      expect(pass(2, looked(false))).toContain(n);
    }
  });

  it('plan: a reason that is new is taken to be right as often as others of its type', () => {
    const { name, pass } = planned();
    for (let n = 2; n < 18; n += 1) {
      name([`p${n}`], `crm.person.updated,field ${n}`);
      pass(2, looked(false));
    }
    name(['p18'], 'crm.person.updated,another field');
    name(['p19'], 'crm.memo.created,another');
    const pages = pass(10, looked(false));
    expect([pages.includes(18), pages.includes(19)]).toEqual([false, true]);
  });

  it('plan: an end that gains three rows a second does not keep a named record waiting where the budget is small', () => {
    const { clock, name, read } = planned();
    let made = 0;
    const growing = ({ page, ids }: PlannedPage): PageAnswer =>
      shown({ keys: ids, created: page === 20 ? Array.from({ length: 3 }, () => `n${(made += 1)}`) : [] });
    // One request a second, which the end is always worth.
    const pages = Array.from({ length: 60 }, (_, second) => {
      clock.nowMs += 1_000;
      if (second === 40) name(['p5']);
      return read(growing);
    });
    expect(pages.slice(0, 40)).toEqual(expect.arrayContaining(Array.from({ length: 30 }, () => 20)));
    expect(pages.slice(40, 50)).toContain(5);
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

  it('plan: a record that is not known asks for both ends', () => {
    const { name, pass } = planned();
    pass(10);
    name(['nobody']);
    expect(pass(1.2).sort()).toEqual([1, 20]);
  });

  it('plan: pages that do not hold their records are worth a quarter each time', () => {
    const { plan, clock, read } = planned();
    read();
    read();
    const valueOf = (id: string): number => {
      plan.name([{ id, by: 'crm.memo.created', atMs: clock.nowMs }], clock.nowMs);
      return plan.next(clock.nowMs, pageOf)?.value(clock.nowMs) ?? 0;
    };
    // Of those named, one half is right, and the walk would find it after half a minute.
    const first = valueOf('p5');
    expect(first).toBe(31 / 2);
    read(() => shown({ keys: ['another'] }));
    expect(valueOf('p6')).toBe(first / 4);
    read(() => shown({ isOutdated: true }));
    expect(valueOf('p7')).toBe(first / 16);
    read(looked(true));
    expect(valueOf('p8')).toBeGreaterThan(first / 4);
  });

  it('plan: the longer a walk takes, the earlier a named record is looked up, and an end where rows gather has its turn', () => {
    const readBefore = (walkMs: number): number => {
      const { plan, clock, name, read } = planned();
      plan.anchor({ ...swept(20, START), startedMs: START - walkMs }, START);
      // Two rows a second.
      for (let n = 0; n < 60; n += 1) {
        clock.nowMs += 1_000;
        read(({ page }) => shown({ created: page === 20 ? ['n1', 'n2'] : [] }));
      }
      name(['p5']);
      clock.nowMs += 4_000;
      return read() ?? 0;
    };
    expect([readBefore(1_000), readBefore(900_000)]).toEqual([20, 5]);
  });

  it('plan: names that are hardly ever right do not keep others waiting', () => {
    const { name, plan, read, clock } = planned();
    for (let n = 0; n < 60; n += 1) {
      clock.nowMs += 1_000;
      name(['p7'], 'never');
      read(looked(false));
    }
    name(
      Array.from({ length: 1_500 }, (_, n) => `p${n + 21}`),
      'never',
    );
    expect(plan.pending).toBe(0);
    name(['p5']);
    expect(read(looked(true))).toBe(5);
  });

  it('plan: a named record goes before an end at which rows gather', () => {
    const { clock, name, pass, read } = planned();
    // Two rows a second.
    pass(60, () => shown({ created: ['n1', 'n2'] }));
    clock.nowMs += 1_200;
    name(['p5']);
    expect(read(looked(true))).toBe(5);
  });

  it('plan: a page whose answer was not read is read again', () => {
    const { plan, clock, name, read } = planned();
    read();
    read();
    name(['p5']);
    const page = plan.next(clock.nowMs, pageOf)!;
    plan.taken(page, clock.nowMs);
    expect(read()).toBeNull();
    plan.again(page);
    expect(read(looked(true))).toBe(5);
  });

  it('plan: another process goes on with what was learned', () => {
    const { plan, clock, name, read, pass } = planned();
    pass(2);
    name(['p5'], 'never');
    read(looked(false));
    const next = planned();
    next.clock.nowMs = clock.nowMs;
    next.plan.restore(plan.learned());
    next.read();
    next.read();
    next.name(['p6'], 'never');
    expect(next.plan.next(clock.nowMs, pageOf)?.value(clock.nowMs)).toBeCloseTo((31 * 5) / 11);
  });
});
