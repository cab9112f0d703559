import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PageIndex } from '../../../../src/feed/list/shortcuts/page-index.js';

describe('page index: where a record stood', () => {
  it('always names the page of a record, among at most a few others', () => {
    // The last two: a known collision of 32-bit FNV-1a.
    const id = fc.oneof(fc.uuid(), fc.string(), fc.constantFrom('', 'costarring', 'liquid'));
    const placed = fc.array(fc.tuple(id, fc.integer({ min: 1, max: 2 ** 32 - 1 })), { maxLength: 400 });
    fc.assert(
      fc.property(placed, (records) => {
        const index = new PageIndex();
        for (const [id, page] of records) index.add(id, page);
        for (const [id, page] of records) expect(index.pagesOf(id)).toContain(page);
      }),
    );
  });

  it('names no page for a record that is not there', () => {
    const index = new PageIndex();
    expect(index.pagesOf('a')).toEqual([]);
    for (let n = 0; n < 10_000; n++) index.add(`record-${n}`, 1 + Math.floor(n / 50));
    const found = Array.from({ length: 10_000 }, (_, n) => index.pagesOf(`other-${n}`).length);
    expect(found.reduce((sum, count) => sum + count, 0)).toBeLessThan(5);
  });
});
