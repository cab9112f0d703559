import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Aim } from '../../../src/sweep/shortcuts/aim.js';

/** `r7` is on page 3. */
const pageOf = (id: string): number | null => (id.startsWith('r') ? Math.floor(Number(id.slice(1)) / 2) : null);

describe('aimed fetch: which page is next', () => {
  it('is that of the record named last, for all named records on it', () => {
    const aim = new Aim();
    aim.add([
      { id: 'r7', atMs: 300 },
      { id: 'r1', atMs: 100 },
      { id: 'r6', atMs: 50 },
    ]);
    const { page } = aim.next(1_000, pageOf);
    expect(page).toEqual({ page: 3, ids: ['r7', 'r6'] });
    if (page !== null) aim.taken(page, 1_000);
    expect(aim.next(1_000, pageOf).page).toEqual({ page: 0, ids: ['r1'] });
  });

  it('is not one that was requested within the last second, or after the record was named', () => {
    const aim = new Aim();
    aim.add([{ id: 'r1', atMs: 5_500 }]);
    aim.fetched(0, 5_000);
    expect(aim.next(5_900, pageOf).page).toBeNull();
    expect(aim.next(6_000, pageOf).page).toEqual({ page: 0, ids: ['r1'] });
    aim.fetched(0, 6_000);
    expect(aim.next(9_000, pageOf).page).toBeNull();
    expect(aim.pending).toBe(0);
  });

  it('looks a record up once in two seconds, however often it is named', () => {
    const aim = new Aim();
    let fetched = 0;
    for (let now = 0; now < 20_000; now += 100) {
      aim.add([{ id: 'r1', atMs: now }]);
      const { page } = aim.next(now, pageOf);
      if (page === null) continue;
      aim.taken(page, now);
      fetched += 1;
    }
    expect(fetched).toBe(10);
  });

  it('returns records without a page once, and then forgets them', () => {
    const aim = new Aim();
    aim.add([{ id: 'x', atMs: 1 }]);
    expect(aim.next(10, pageOf)).toEqual({ page: null, unknown: ['x'] });
    expect(aim.next(20, pageOf)).toEqual({ page: null, unknown: [] });
  });

  it('keeps at most a thousand named records, the last ones', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(5_000), { maxLength: 500 }), { maxLength: 20 }), (batches) => {
        const aim = new Aim();
        batches.forEach((batch, atMs) => aim.add(batch.map((n) => ({ id: `r${n}`, atMs }))));
        expect(aim.pending).toBeLessThanOrEqual(1_000);
        const last = batches.at(-1)?.at(-1);
        const { page } = aim.next(1_000_000, pageOf);
        if (last !== undefined) expect(page?.page).toBe(pageOf(`r${last}`));
      }),
    );
  });
});
