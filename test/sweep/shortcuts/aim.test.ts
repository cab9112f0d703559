import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Aim } from '../../../src/sweep/shortcuts/aim.js';

/** `r7` is on page 3. */
const pageOf = (id: string): number | null => (id.startsWith('r') ? Math.floor(Number(id.slice(1)) / 2) : null);

describe('aimed fetch: which page is next', () => {
  it('is that of the record named last, for all named records on it', () => {
    const aim = new Aim();
    aim.add([
      { id: 'r7', by: 'hint', atMs: 300 },
      { id: 'r1', by: 'hint', atMs: 100 },
      { id: 'r6', by: 'hint', atMs: 50 },
    ]);
    const { page } = aim.next(1_000, pageOf);
    expect(page).toEqual({ page: 3, ids: ['r7', 'r6'], likelihood: 0.5 });
    if (page !== null) aim.taken(page, 1_000);
    expect(aim.next(1_000, pageOf).page).toEqual({ page: 0, ids: ['r1'], likelihood: 0.5 });
  });

  it('is not one that was requested within the last second, or that has shown its records as they were a second after the change', () => {
    const aim = new Aim();
    aim.add([{ id: 'r1', by: 'hint', atMs: 5_500 }]);
    aim.fetched(0, 5_000);
    expect(aim.next(5_900, pageOf).page).toBeNull();
    expect(aim.next(6_000, pageOf).page).toEqual({ page: 0, ids: ['r1'], likelihood: 0.5 });
    aim.fetched(0, 6_500);
    // Its answer may be dropped.
    expect(aim.next(9_000, pageOf).page?.ids).toEqual(['r1']);
    aim.shown(0, 6_500);
    expect(aim.next(9_000, pageOf).page).toBeNull();
    expect(aim.pending).toBe(0);
  });

  it('looks a record up once in two seconds, however often it is named', () => {
    const aim = new Aim();
    let fetched = 0;
    for (let now = 0; now < 20_000; now += 100) {
      aim.add([{ id: 'r1', by: 'hint', atMs: now }]);
      const { page } = aim.next(now, pageOf);
      if (page === null) continue;
      aim.taken(page, now);
      fetched += 1;
    }
    expect(fetched).toBe(10);
  });

  it('returns records without a page once, and then forgets them', () => {
    const aim = new Aim();
    aim.add([{ id: 'x', by: 'hint', atMs: 1 }]);
    expect(aim.next(10, pageOf)).toEqual({ page: null, unknown: ['x'] });
    expect(aim.next(20, pageOf)).toEqual({ page: null, unknown: [] });
  });

  it('keeps at most a thousand named records, the last ones', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(5_000), { maxLength: 500 }), { maxLength: 20 }), (batches) => {
        const aim = new Aim();
        batches.forEach((batch, atMs) => aim.add(batch.map((n) => ({ id: `r${n}`, by: 'hint', atMs }))));
        expect(aim.pending).toBeLessThanOrEqual(1_000);
        const last = batches.at(-1)?.at(-1);
        const { page } = aim.next(1_000_000, pageOf);
        if (last !== undefined) expect(page?.page).toBe(pageOf(`r${last}`));
      }),
    );
  });

  it('is that of a record which has probably changed, before those named by what hardly ever changes a record', () => {
    const aim = new Aim();
    const lookUp = (id: string, by: string, nowMs: number, hasChanged: boolean): void => {
      aim.add([{ id, by, atMs: nowMs }]);
      const { page } = aim.next(nowMs, pageOf);
      if (page === null) throw new Error(`Nothing to fetch for ${id}.`);
      aim.taken(page, nowMs);
      aim.looked(page.ids, () => hasChanged);
    };
    for (let nth = 0; nth < 8; nth++) {
      lookUp(`r${4 * nth}`, 'crm.deal_history.created', nth * 5_000, false);
      lookUp(`r${4 * nth + 2}`, 'crm.memo.created', nth * 5_000, true);
    }
    const named = [
      { id: 'r100', by: 'crm.memo.created', atMs: 50_000 },
      { id: 'r110', by: 'crm.deal_history.created', atMs: 51_000 },
      { id: 'r120', by: 'crm.todo.created', atMs: 49_000 },
    ];
    aim.add(named);
    const next = (nowMs: number): readonly string[] | undefined => {
      const { page } = aim.next(nowMs, pageOf);
      if (page !== null) aim.taken(page, nowMs);
      return page?.ids;
    };
    // One in vain from time to time, so that it is noticed when it no longer is.
    expect(next(60_000)).toEqual(['r110']);
    aim.add([{ id: 'r130', by: 'crm.deal_history.created', atMs: 61_000 }]);
    expect([next(62_000), next(62_000), next(62_000), next(66_000)]).toEqual([['r100'], ['r120'], undefined, ['r130']]);
  });

  it('is that of the most probable change, and of equally probable ones that of the last named', () => {
    const aim = new Aim();
    // Of the people that a done todo names, every second had changed.
    for (let nth = 0; nth < 8; nth++) {
      for (const [by, hasChanged] of [
        ['done', nth % 2 === 0],
        ['memo', true],
      ] as const) {
        aim.add([{ id: `r${nth}`, by, atMs: nth * 5_000 }]);
        const { page } = aim.next(nth * 5_000 + (by === 'memo' ? 2_500 : 0), pageOf);
        if (page === null) throw new Error('nothing to fetch');
        aim.taken(page, nth * 5_000 + (by === 'memo' ? 2_500 : 0));
        aim.looked(page.ids, () => hasChanged);
      }
    }
    aim.add([
      { id: 'r100', by: 'memo', atMs: 100_000 },
      { id: 'r110', by: 'memo', atMs: 100_010 },
      { id: 'r120', by: 'done', atMs: 100_020 },
    ]);
    const fetched = Array.from({ length: 3 }, () => {
      const { page } = aim.next(101_000, pageOf);
      if (page !== null) aim.taken(page, 101_000);
      return [page?.ids, page?.likelihood];
    });
    expect(fetched).toEqual([
      [['r110'], 0.9],
      [['r100'], 0.9],
      [['r120'], 0.5],
    ]);
  });

  it('a record that two events name is looked up if one of them is likely to have changed it', () => {
    const aim = new Aim();
    for (let nth = 0; nth < 8; nth++) {
      aim.add([{ id: `r${2 * nth}`, by: 'in vain', atMs: 0 }]);
      const { page } = aim.next(nth, pageOf);
      aim.taken(page ?? { page: 0, ids: [], likelihood: 0 }, nth);
      aim.looked(page?.ids ?? [], () => false);
    }
    aim.add([
      { id: 'r200', by: 'in vain', atMs: 30 },
      { id: 'r100', by: 'in vain', atMs: 10 },
      { id: 'r100', by: 'hint', atMs: 20 },
    ]);
    expect(aim.next(5_000, pageOf).page?.ids).toEqual(['r100']);
  });
});
