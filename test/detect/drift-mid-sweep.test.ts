import { describe, expect, it } from 'vitest';
import { decideDrift, isOrdinary, isUnusual, noDrift, tallied, withoutOrdinary } from '../../src/detect/drift.js';
import { appears, listOf, swept } from '../support/drifting.js';

describe('a field that moved on nearly all rows from some row on', () => {
  const half = (row: number): boolean => row >= 50;

  it('waits for the next sweep: the schema may have changed in mid-sweep', () => {
    expect(decideDrift(swept(100, half))).toEqual({ drifted: [], undecided: ['출처'], begun: {} });
    expect(decideDrift(swept(100, (row) => half(row) && row < 95)).undecided).toEqual(['출처']);
    expect(decideDrift(swept(100, (row) => half(row) && row < 94)).undecided).toEqual([]);
  });

  it('waits once: the second sweep decides', () => {
    expect(decideDrift(swept(100, half, { drift: noDrift({ carried: ['출처'] }) })).undecided).toEqual([]);
    expect(decideDrift(swept(100, half, { drift: noDrift({ carried: ['다른'] }) })).undecided).toEqual(['출처']);
  });

  it('counts as such by the share of the list that could move at all', () => {
    const schema = listOf(100, { 'string\t출처': 50 });
    expect(decideDrift(swept(100, (row) => row >= 50 && row % 2 === 0, { schema })).undecided).toEqual(['출처']);
    expect(decideDrift(swept(100, (row) => row >= 50 && row % 3 === 0, { schema })).undecided).toEqual([]);
  });
});

describe('a field that moved on the last few rows', () => {
  const next = (rows: number, last: number, moves: (row: number) => boolean) => {
    const { begun } = decideDrift(swept(rows, (row) => row >= rows - last));
    const { drifted, undecided } = decideDrift(swept(rows, moves, { drift: noDrift({ begun }) }));
    return { begun, drifted, undecided };
  };

  it('is told of each of them, and has begun: with those that follow in the next sweep it is one change of the schema', () => {
    const { begun, drifted, undecided } = next(14, 4, (row) => row < 10);
    expect(begun).toMatchObject({ 출처: { moved: 4, moves: { absent: { string: 4 } }, forms: { absent: 14 } } });
    expect(drifted).toMatchObject([{ field: '출처', kind: 'appeared', rows: 14, share: 1 }]);
    expect(undecided).toEqual([]);
    expect(next(14, 8, (row) => row < 6).drifted).toMatchObject([{ rows: 14 }]);
  });

  it('was an edit of these, when no others follow: that decides, and nothing is begun any more', () => {
    expect(next(100, 1, () => false)).toMatchObject({ begun: { 출처: { moved: 1 } }, drifted: [], undecided: [] });
    expect(next(100, 1, (row) => row > 70)).toMatchObject({ drifted: [], undecided: [] });
    const { begun } = decideDrift(swept(10, (row) => row > 0));
    const again = decideDrift(swept(10, () => false, { drift: noDrift({ begun }) }));
    expect(begun).toMatchObject({ 출처: { moved: 9 } });
    expect(again).toEqual({ drifted: [], undecided: [], begun: {} });
  });

  it('holds nobody up for longer than it takes to know that no others follow', () => {
    const { begun } = decideDrift(swept(100, (row) => row === 99));
    const drift = noDrift({ begun });
    expect(
      isOrdinary(
        swept(21, () => false, { drift }),
        100,
      ),
    ).toBe(false);
    expect(
      isOrdinary(
        swept(22, () => false, { drift }),
        100,
      ),
    ).toBe(true);
  });

  it('has not begun where others had stayed behind it', () => {
    expect(decideDrift(swept(100, (row) => row === 98))).toEqual({ drifted: [], undecided: [], begun: {} });
  });
});

describe('in mid-sweep', () => {
  /** So many rows, of which the first alone moved. */
  const after = (rows: number, given: Parameters<typeof swept>[2] = { schema: listOf(100) }) =>
    swept(rows, (row) => row === 0, given);

  it('a field is ordinary as soon as more than a fifth of the list has stayed since it first moved', () => {
    expect([isOrdinary(after(21), 100), isOrdinary(after(22), 100)]).toEqual([false, true]);
    expect([isOrdinary(after(21), 0), isOrdinary(after(22), 0)]).toEqual([false, true]);
    expect([isOrdinary(after(41), 200), isOrdinary(after(42), 200)]).toEqual([false, true]);
  });

  it('rows that were seen before the first that moved say nothing', () => {
    const late = (rows: number) => swept(rows, (row) => row === 30, { schema: listOf(100) });
    expect([isOrdinary(late(51), 100), isOrdinary(late(52), 100)]).toEqual([false, true]);
  });

  it('nothing is ordinary where a tenth of the rows or more could not move', () => {
    const rows = (could: number) => after(100, { schema: listOf(100, { 'string\t출처': 100 - could }) });
    expect([isOrdinary(rows(90), 100), isOrdinary(rows(89), 100)]).toEqual([true, false]);
  });

  it('one field that may still be the schema keeps all waiting', () => {
    const other = { ...appears, field: '등급' };
    const drift = tallied(after(50), [other], listOf(100));
    expect(isOrdinary(drift, 100)).toBe(false);
    expect(isOrdinary(noDrift(), 100)).toBe(true);
  });

  it('a field that was left open is ordinary when so much of the list has not moved', () => {
    const drift = noDrift({ carried: ['출처'] });
    const none = (rows: number) => swept(rows, () => false, { drift });
    expect([isOrdinary(none(20), 100), isOrdinary(none(21), 100)]).toEqual([false, true]);
    expect(isOrdinary(none(0), 0)).toBe(false);
  });

  it('what is ordinary is usual for the rest of the sweep, and decides nothing; other fields still do', () => {
    const drift = withoutOrdinary(swept(50, (row) => row < 20, { drift: noDrift({ carried: ['메모'] }) }));
    expect(drift).toEqual({ rows: 50, fields: {}, carried: ['메모'], ordinary: ['메모', '출처'] });
    const unusual = (field: string) => isUnusual({ ...appears, field }, listOf(100), drift);
    expect([unusual('출처'), unusual('메모'), unusual('등급')]).toEqual([false, false, true]);
    expect(isOrdinary(drift, 1_000)).toBe(true);
    expect(decideDrift(drift)).toEqual({ drifted: [], undecided: [], begun: {} });
    const other = tallied(drift, [{ ...appears, field: '등급' }], listOf(100));
    expect(isOrdinary(other, 100)).toBe(false);
    expect(withoutOrdinary(other).ordinary).toEqual(['메모', '출처', '등급']);
  });
});
