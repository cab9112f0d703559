import { describe, expect, it } from 'vitest';
import {
  decideDrift,
  noFieldCanDrift,
  isUnusual,
  noDrift,
  addToDrift,
  withOrdinaryFields,
} from '../../../src/detect/schema-drift/drift.js';
import { appears, listOf, driftTally } from '../../support/drift-tally.js';

describe('schema drift: a field that moved on nearly all rows from some row on', () => {
  const half = (row: number): boolean => row >= 50;

  it('is carried to the next sweep: the schema may have changed in mid-sweep', () => {
    expect(decideDrift(driftTally(100, half))).toEqual({ drifted: [], undecided: ['출처'], begun: {} });
    expect(decideDrift(driftTally(100, (row) => half(row) && row < 95)).undecided).toEqual(['출처']);
    expect(decideDrift(driftTally(100, (row) => half(row) && row < 94)).undecided).toEqual([]);
  });

  it('is carried once: the second sweep decides', () => {
    expect(decideDrift(driftTally(100, half, { drift: noDrift({ carried: ['출처'] }) })).undecided).toEqual([]);
    expect(decideDrift(driftTally(100, half, { drift: noDrift({ carried: ['다른'] }) })).undecided).toEqual(['출처']);
  });

  it('is judged by the share of the list that could move', () => {
    const schema = listOf(100, { 'string\t출처': 50 });
    expect(decideDrift(driftTally(100, (row) => row >= 50 && row % 2 === 0, { schema })).undecided).toEqual(['출처']);
    expect(decideDrift(driftTally(100, (row) => row >= 50 && row % 3 === 0, { schema })).undecided).toEqual([]);
  });
});

describe('schema drift: a field that moved on the last few rows', () => {
  const next = (rows: number, last: number, moves: (row: number) => boolean) => {
    const { begun } = decideDrift(driftTally(rows, (row) => row >= rows - last));
    const { drifted, undecided } = decideDrift(driftTally(rows, moves, { drift: noDrift({ begun }) }));
    return { begun, drifted, undecided };
  };

  it('is reported per row and begun: with the rows that follow in the next sweep it is one change of the schema', () => {
    const { begun, drifted, undecided } = next(14, 4, (row) => row < 10);
    expect(begun).toMatchObject({ 출처: { moved: 4, moves: { absent: { string: 4 } }, valueTypes: { absent: 14 } } });
    expect(drifted).toMatchObject([{ field: '출처', kind: 'appeared', rows: 14, share: 1 }]);
    expect(undecided).toEqual([]);
    expect(next(14, 8, (row) => row < 6).drifted).toMatchObject([{ rows: 14 }]);
  });

  it('is decided as edits when no other rows follow', () => {
    expect(next(100, 1, () => false)).toMatchObject({ begun: { 출처: { moved: 1 } }, drifted: [], undecided: [] });
    expect(next(100, 1, (row) => row > 70)).toMatchObject({ drifted: [], undecided: [] });
    const { begun } = decideDrift(driftTally(10, (row) => row > 0));
    const again = decideDrift(driftTally(10, () => false, { drift: noDrift({ begun }) }));
    expect(begun).toMatchObject({ 출처: { moved: 9 } });
    expect(again).toEqual({ drifted: [], undecided: [], begun: {} });
  });

  it('keeps no record in quarantine once it is clear that no others follow', () => {
    const { begun } = decideDrift(driftTally(100, (row) => row === 99));
    const drift = noDrift({ begun });
    expect(
      noFieldCanDrift(
        driftTally(21, () => false, { drift }),
        100,
      ),
    ).toBe(false);
    expect(
      noFieldCanDrift(
        driftTally(22, () => false, { drift }),
        100,
      ),
    ).toBe(true);
  });

  it('is not begun when later rows stayed', () => {
    expect(decideDrift(driftTally(100, (row) => row === 98))).toEqual({ drifted: [], undecided: [], begun: {} });
  });
});

describe('schema drift: in mid-sweep', () => {
  /** So many rows, of which the first alone moved. */
  const after = (rows: number, given: Parameters<typeof driftTally>[2] = { schema: listOf(100) }) =>
    driftTally(rows, (row) => row === 0, given);

  it('a field is ordinary as soon as more than a fifth of the list has stayed since it first moved', () => {
    expect([noFieldCanDrift(after(21), 100), noFieldCanDrift(after(22), 100)]).toEqual([false, true]);
    expect([noFieldCanDrift(after(21), 0), noFieldCanDrift(after(22), 0)]).toEqual([false, true]);
    expect([noFieldCanDrift(after(41), 200), noFieldCanDrift(after(42), 200)]).toEqual([false, true]);
  });

  it('rows seen before the first that moved do not count', () => {
    const late = (rows: number) => driftTally(rows, (row) => row === 30, { schema: listOf(100) });
    expect([noFieldCanDrift(late(51), 100), noFieldCanDrift(late(52), 100)]).toEqual([false, true]);
  });

  it('no field is ordinary when a tenth of the rows or more could not move', () => {
    const rows = (could: number) => after(100, { schema: listOf(100, { 'string\t출처': 100 - could }) });
    expect([noFieldCanDrift(rows(90), 100), noFieldCanDrift(rows(89), 100)]).toEqual([true, false]);
  });

  it('one field that may still drift keeps all records in quarantine', () => {
    const other = { ...appears, field: '등급' };
    const drift = addToDrift(after(50), [other], listOf(100));
    expect(noFieldCanDrift(drift, 100)).toBe(false);
    expect(noFieldCanDrift(noDrift(), 100)).toBe(true);
  });

  it('a carried field is ordinary when enough of the list has stayed', () => {
    const drift = noDrift({ carried: ['출처'] });
    const none = (rows: number) => driftTally(rows, () => false, { drift });
    expect([noFieldCanDrift(none(20), 100), noFieldCanDrift(none(21), 100)]).toEqual([false, true]);
    expect(noFieldCanDrift(none(0), 0)).toBe(false);
  });

  it('an ordinary field stays ordinary for the rest of the sweep; other fields may still drift', () => {
    const drift = withOrdinaryFields(driftTally(50, (row) => row < 20, { drift: noDrift({ carried: ['메모'] }) }));
    expect(drift).toEqual({ rows: 50, fields: {}, carried: ['메모'], ordinary: ['메모', '출처'] });
    const unusual = (field: string) => isUnusual({ ...appears, field }, listOf(100), drift);
    expect([unusual('출처'), unusual('메모'), unusual('등급')]).toEqual([false, false, true]);
    expect(noFieldCanDrift(drift, 1_000)).toBe(true);
    expect(decideDrift(drift)).toEqual({ drifted: [], undecided: [], begun: {} });
    const other = addToDrift(drift, [{ ...appears, field: '등급' }], listOf(100));
    expect(noFieldCanDrift(other, 100)).toBe(false);
    expect(withOrdinaryFields(other).ordinary).toEqual(['메모', '출처', '등급']);
  });
});
