import { describe, expect, it } from 'vitest';
import { addToDrift, fieldsThatStay, noDrift } from '../../../src/detect/schema-drift/drift.js';
import { appears, listOf } from '../../support/drift-tally.js';

const schema = listOf(1_000);
/** A page on which `moved` of `rows` rows have the field now. */
const page = (rows: number, moved: number) => ({
  moved: Array.from({ length: moved }, () => [appears]),
  shown: Array.from({ length: rows }, (_, row) => new Map(row < moved ? [['출처', 'string']] : [])),
});

describe('schema drift: one page', () => {
  it('makes a field ordinary when nearly all of its rows stayed', () => {
    expect(fieldsThatStay(noDrift(), page(50, 1)).ordinary).toEqual(['출처']);
    expect(fieldsThatStay(noDrift(), page(50, 5)).ordinary).toEqual(['출처']);
  });

  it('says nothing when more rows moved, or when too few could have', () => {
    const before = noDrift();
    expect(fieldsThatStay(before, page(50, 6))).toBe(before);
    expect(fieldsThatStay(before, page(10, 1))).toBe(before);
    expect(fieldsThatStay(before, page(50, 50))).toBe(before);
    // The other rows have had the field before.
    const full = Array.from({ length: 50 }, () => new Map([['출처', 'string']]));
    expect(fieldsThatStay(before, { ...page(50, 1), shown: full })).toBe(before);
  });

  it('counts null and absent as the same, because some servers use them interchangeably', () => {
    const nulls = Array.from({ length: 50 }, () => new Map([['출처', 'null']]));
    expect(fieldsThatStay(noDrift(), { ...page(50, 1), shown: nulls }).ordinary).toEqual(['출처']);
  });

  it('says so too of a field that has moved on an earlier page, or that the sweep before left open', () => {
    const moving = addToDrift(noDrift(), [appears], schema);
    expect(fieldsThatStay(moving, page(50, 1)).ordinary).toEqual(['출처']);
    const carried = noDrift({ carried: ['출처'] });
    expect(fieldsThatStay(carried, page(50, 1)).ordinary).toEqual(['출처']);
  });
});
