import { describe, expect, it } from 'vitest';
import { driftOf, isUnusual, movesOfSchema, movingFields } from '../../../../src/feed/detect/schema-drift/drift.js';
import { appears, fieldMoves, listOf } from '../../../support/drift-tally.js';

describe('schema drift: an unusual move', () => {
  const step = (from: string, to: string) => ({ field: '등급', from, to });

  it('leads to a value type that at most a tenth of the rows have, from one that at least ten have', () => {
    const schema = (strings: number, numbers: number) =>
      listOf(100, { 'string\t등급': strings, 'number\t등급': numbers });
    const unusual = (strings: number, numbers: number): boolean =>
      isUnusual(step('string', 'number'), schema(strings, numbers));
    expect([unusual(90, 0), unusual(90, 10), unusual(89, 11)]).toEqual([true, true, false]);
    expect([unusual(10, 10), unusual(9, 10), unusual(0, 10)]).toEqual([true, false, false]);
  });

  it('may lead into or out of absence, counted as the rows without the key', () => {
    expect(isUnusual(step('absent', 'string'), listOf(100, { 'string\t등급': 10 }))).toBe(true);
    expect(isUnusual(step('absent', 'string'), listOf(100, { 'string\t등급': 11 }))).toBe(false);
    expect(isUnusual(step('string', 'absent'), listOf(100, { 'string\t등급': 90 }))).toBe(true);
    expect(isUnusual(step('string', 'absent'), listOf(100, { 'string\t등급': 89 }))).toBe(false);
  });

  it('does not exist in a list of fewer than ten rows, even for a moving field', () => {
    expect(isUnusual(appears, listOf(10))).toBe(true);
    expect([isUnusual(appears, listOf(9)), isUnusual(appears, listOf(9), true)]).toEqual([false, false]);
  });

  it('is not one between empty values that rows have, even for a moving field', () => {
    const emptied = { field: '출처', from: 'null', to: 'absent' };
    expect(isUnusual(emptied, listOf(100, { 'null\t출처': 50, 'string\t출처': 4 }), true)).toBe(false);
    expect(isUnusual(emptied, listOf(100, { 'null\t출처': 90, 'string\t출처': 4 }), true)).toBe(true);
  });
});

describe('schema drift: one page', () => {
  const moving = (rows: number, moved: number, others: Record<string, string> = {}): string[] => {
    const shown = Array.from(
      { length: rows },
      (_, row) => new Map(Object.entries(row < moved ? { 출처: 'string' } : others)),
    );
    return movingFields({ moved: Array.from({ length: moved }, () => [appears]), shown }, () => true);
  };

  it('shows a field that moved on most of the rows that could have moved', () => {
    expect([moving(50, 26), moving(50, 25), moving(1, 1), moving(2, 1)]).toEqual([['출처'], [], ['출처'], []]);
    expect(moving(50, 3, { 출처: 'number' })).toEqual(['출처']);
  });

  it('counts null and absent as the same, because some servers use them interchangeably', () => {
    expect(moving(50, 3, { 출처: 'null' })).toEqual([]);
  });
});

describe('schema drift: a whole list', () => {
  it('shows one change of the schema where a field moved on nine tenths of the rows that could', () => {
    const change = { field: '출처', kind: 'appeared', rows: 90, share: 0.9, before: ['absent'], after: ['string'] };
    expect(driftOf('출처', fieldMoves({ absent: 100 }, [['absent', 'string', 90]]))).toEqual(change);
    expect(driftOf('출처', fieldMoves({ absent: 100 }, [['absent', 'string', 89]]))).toBeNull();
  });

  it('shows no change of the schema in fewer than ten rows, even if they are all', () => {
    expect(driftOf('출처', fieldMoves({ absent: 9 }, [['absent', 'string', 9]]))).toBeNull();
    expect(driftOf('출처', fieldMoves({ absent: 10 }, [['absent', 'string', 10]]))).toMatchObject({ rows: 10 });
  });

  it('counts only rows that had the old value type', () => {
    const some = (rows: number) => fieldMoves({ null: 60, string: 40 }, [['null', 'list', rows]]);
    expect(driftOf('출처', some(54))).toMatchObject({ kind: 'changed', rows: 54, share: 0.9 });
    expect(driftOf('출처', some(53))).toBeNull();
  });
});

describe('schema drift: the moves made by the schema', () => {
  const moved = (types: Record<string, number>, moves: [from: string, to: string, rows: number][]) =>
    movesOfSchema(fieldMoves(types, moves));

  it('are those of more than a tenth of the moved rows, and rare ones into value types that no row had', () => {
    const rare = moved({ string: 100 }, [
      ['string', 'list of string', 90],
      ['string', 'empty list', 2],
    ]);
    expect(rare).toEqual({ string: ['list of string', 'empty list'] });
  });

  it('exclude a rare one into a value type that rows had: that is an edit', () => {
    const forms = { string: 98, null: 2 };
    const withEdits = (rows: number) =>
      moved(forms, [
        ['string', 'list of string', 90 - rows],
        ['string', 'null', rows],
      ]);
    expect(withEdits(9)).toEqual({ string: ['list of string'] });
    expect(withEdits(10)).toEqual({ string: ['list of string', 'null'] });
  });

  it('exclude added or removed values when the frequent moves are between empty values', () => {
    const emptied = moved({ null: 97, timestamp: 3 }, [
      ['null', 'absent', 90],
      ['null', 'timestamp', 4],
      ['timestamp', 'absent', 2],
      ['null', 'list', 1],
    ]);
    expect(emptied).toEqual({ null: ['absent'] });
    const half = moved({ null: 50, string: 47, timestamp: 3 }, [
      ['null', 'absent', 48],
      ['string', 'absent', 45],
      ['timestamp', 'absent', 3],
    ]);
    expect(half).toEqual({ null: ['absent'], string: ['absent'], timestamp: ['absent'] });
  });
});
