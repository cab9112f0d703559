import { describe, expect, it } from 'vitest';
import {
  decideDrift,
  fieldsFollowingDrift,
  isUnusual,
  movesOfSchema,
  noDrift,
  pastAfter,
  addToDrift,
  transitions,
  type DriftTally,
} from '../../../src/detect/schema-drift/drift.js';
import { appears, listOf, driftTally } from '../../support/drift-tally.js';

describe('schema drift: the moved fields of a row', () => {
  it('are those that appeared, vanished or have another value type', () => {
    const before = new Map([
      ['id', 'string'],
      ['등급', 'string'],
      ['메모', 'null'],
    ]);
    const after = new Map([
      ['id', 'string'],
      ['메모', 'string'],
      ['출처', 'string'],
    ]);
    expect(transitions(before, after)).toEqual([
      { field: '등급', from: 'string', to: 'absent' },
      { field: '메모', from: 'null', to: 'string' },
      { field: '출처', from: 'absent', to: 'string' },
    ]);
  });
});

describe('schema drift: an unusual move', () => {
  const step = (from: string, to: string) => ({ field: '등급', from, to });

  it('leads to a value type that at most a tenth of the rows have, from one that at least ten have', () => {
    const schema = (strings: number, numbers: number) =>
      listOf(100, { 'string\t등급': strings, 'number\t등급': numbers });
    const unusual = (strings: number, numbers: number): boolean =>
      isUnusual(step('string', 'number'), schema(strings, numbers), noDrift());
    expect([unusual(90, 0), unusual(90, 10), unusual(89, 11)]).toEqual([true, true, false]);
    expect([unusual(10, 10), unusual(9, 10), unusual(0, 10)]).toEqual([true, false, false]);
  });

  it('may lead into or out of absence, counted as the rows without the key', () => {
    expect(isUnusual(step('absent', 'string'), listOf(100, { 'string\t등급': 10 }), noDrift())).toBe(true);
    expect(isUnusual(step('absent', 'string'), listOf(100, { 'string\t등급': 11 }), noDrift())).toBe(false);
    expect(isUnusual(step('string', 'absent'), listOf(100, { 'string\t등급': 90 }), noDrift())).toBe(true);
    expect(isUnusual(step('string', 'absent'), listOf(100, { 'string\t등급': 89 }), noDrift())).toBe(false);
  });

  it('may start from empty values of several kinds together', () => {
    const schema = (empty: number) =>
      listOf(100, { 'null\t등급': empty - 4, 'empty list\t등급': 2, 'string\t등급': 100 - empty });
    const unusual = (empty: number): boolean => isUnusual(step('null', 'number'), schema(empty), noDrift());
    expect([unusual(10), unusual(9)]).toEqual([true, false]);
  });

  it('does not exist in a list of fewer than ten rows, even for a moving field', () => {
    const moving = addToDrift(noDrift(), [appears], listOf(10));
    expect(isUnusual(appears, listOf(10), noDrift())).toBe(true);
    expect([isUnusual(appears, listOf(9), noDrift()), isUnusual(appears, listOf(9), moving)]).toEqual([false, false]);
  });

  it('is any move of a field that is moving already', () => {
    const moving = addToDrift(noDrift(), [appears], listOf(100));
    const usual = listOf(100, { 'string\t출처': 50, 'string\t등급': 50 });
    expect(isUnusual(appears, usual, moving)).toBe(true);
    expect(isUnusual({ ...appears, field: '등급' }, usual, moving)).toBe(false);
  });

  it('is not one between empty values that rows have, even for a moving field', () => {
    const moving = addToDrift(noDrift(), [appears], listOf(100));
    const emptied = { field: '출처', from: 'null', to: 'absent' };
    expect(isUnusual(emptied, listOf(100, { 'null\t출처': 50, 'string\t출처': 4 }), moving)).toBe(false);
    expect(isUnusual(emptied, listOf(100, { 'null\t출처': 90, 'string\t출처': 4 }), moving)).toBe(true);
  });

  it.each(['constructor', '__proto__'])('is judged alike for a field that is called %s', (field) => {
    const half = listOf(100, { [`string\t${field}`]: 50 });
    expect(isUnusual({ ...appears, field }, half, noDrift())).toBe(false);
    const moving = JSON.parse(
      JSON.stringify(addToDrift(noDrift(), [{ ...appears, field }], listOf(100))),
    ) as DriftTally;
    expect(Object.entries(moving.fields).map(([name, { moved }]) => [name, moved])).toEqual([[field, 1]]);
    expect(isUnusual({ ...appears, field }, half, moving)).toBe(true);
  });
});

describe('schema drift: the tally of a sweep', () => {
  it('counts rows, and per field the moves and the first row that moved', () => {
    const schema = listOf(100, { 'string\t출처': 4 });
    const drift = [[], [appears], [], [{ ...appears, to: 'null' }], [appears]].reduce<DriftTally>(
      (tally, moved) => addToDrift(tally, moved, schema),
      noDrift({ carried: ['메모'] }),
    );
    expect(drift).toEqual({
      rows: 5,
      fields: {
        출처: {
          moved: 3,
          after: 1,
          moves: { absent: { string: 2, null: 1 } },
          valueTypes: { string: 4, absent: 96 },
        },
      },
      carried: ['메모'],
      ordinary: [],
    });
  });

  it('starts empty', () => {
    expect(noDrift()).toEqual({ rows: 0, fields: {}, carried: [], ordinary: [] });
  });
});

describe('schema drift: at the end of a sweep', () => {
  it('a field that moved on nine tenths of the rows that could is one change of the schema', () => {
    expect(decideDrift(driftTally(100, (row) => row < 90))).toEqual({
      drifted: [{ field: '출처', kind: 'appeared', rows: 90, share: 0.9, before: ['absent'], after: ['string'] }],
      undecided: [],
      begun: {},
    });
    expect(decideDrift(driftTally(100, (row) => row < 89))).toEqual({ drifted: [], undecided: [], begun: {} });
  });

  it('the share is rounded to the thousandth and is at most 1', () => {
    expect(decideDrift(driftTally(97, (row) => row > 3)).drifted).toMatchObject([{ rows: 93, share: 0.959 }]);
    // More rows moved than the schema had counted when the first of them did.
    expect(decideDrift(driftTally(97, () => true, { schema: listOf(20) })).drifted).toMatchObject([
      { rows: 97, share: 1 },
    ]);
  });

  it('fewer than ten rows are no change of the schema, even if they are all', () => {
    expect(decideDrift(driftTally(9, () => true))).toMatchObject({ drifted: [], undecided: [] });
    expect(decideDrift(driftTally(10, () => true)).drifted).toMatchObject([{ rows: 10 }]);
  });

  it('only rows that could move count: those that had the old value type', () => {
    const schema = listOf(100, { 'null\t출처': 60, 'string\t출처': 40 });
    const fills = { field: '출처', from: 'null', to: 'list' };
    const some = (count: number) =>
      Array.from({ length: count }).reduce<DriftTally>((tally) => addToDrift(tally, [fills], schema), noDrift());
    expect(decideDrift(some(54)).drifted).toMatchObject([{ kind: 'changed', rows: 54, share: 0.9 }]);
    expect(decideDrift(some(53)).drifted).toEqual([]);
  });

  it.each([
    [['absent'], ['string'], 'appeared'],
    [['string'], ['absent'], 'vanished'],
    [['string'], ['list'], 'changed'],
    [['absent', 'null'], ['string'], 'changed'],
    [['string'], ['absent', 'null'], 'changed'],
  ])('a field that went from %j to %j has %3$s', (from, to, kind) => {
    const schema = listOf(12, { 'string\t출처': 4, 'null\t출처': 4 });
    const drift = Array.from({ length: 12 }, (_, row) => ({
      field: '출처',
      from: from[row % from.length]!,
      to: to[row % to.length]!,
    })).reduce<DriftTally>((tally, moved) => addToDrift(tally, [moved], schema), noDrift());
    expect(decideDrift(drift).drifted).toEqual([{ field: '출처', kind, rows: 12, share: 1, before: from, after: to }]);
  });

  it('three value types are shown, most frequent first', () => {
    const forms = ['boolean', 'string', 'string', 'string', 'number', 'number', 'list', 'string', 'number', 'list'];
    const drift = forms.reduce<DriftTally>(
      (tally, to) => addToDrift(tally, [{ ...appears, to }], listOf(10)),
      noDrift(),
    );
    expect(decideDrift(drift).drifted.map(({ after }) => after)).toEqual([['string', 'number', 'list']]);
  });
});

describe('schema drift: the moves made by the schema', () => {
  /** A hundred rows, and what so many of them did. */
  const moved = (forms: Record<string, number>, moves: [from: string, to: string, rows: number][]) => {
    const schema = listOf(
      100,
      Object.fromEntries(Object.entries(forms).map(([form, rows]) => [`${form}\t등급`, rows])),
    );
    const all = moves.flatMap(([from, to, rows]) => Array.from({ length: rows }, () => ({ field: '등급', from, to })));
    const drift = all.reduce<DriftTally>((tally, one) => addToDrift(tally, [one], schema), noDrift());
    return movesOfSchema(drift.fields['등급']!);
  };

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

  it('include rare ones with the same destination as the frequent ones', () => {
    const forms = { string: 60, timestamp: 9, null: 31 };
    const emptied = moved(forms, [
      ['string', 'null', 58],
      ['timestamp', 'null', 5],
    ]);
    expect(emptied).toEqual({ string: ['null'], timestamp: ['null'] });
  });

  it('exclude added or removed values when the frequent moves are between empty values', () => {
    const emptied = moved({ null: 97, timestamp: 3 }, [
      ['null', 'absent', 90],
      ['null', 'timestamp', 4],
      ['timestamp', 'absent', 2],
      ['null', 'list', 1],
    ]);
    expect(emptied).toEqual({ null: ['absent'] });
    const withoutTheKey = moved({ null: 91, string: 9 }, [
      ['null', 'absent', 91],
      ['string', 'absent', 9],
    ]);
    expect(withoutTheKey).toEqual({ null: ['absent'], string: ['absent'] });
    const vanished = moved({ string: 97, timestamp: 3 }, [
      ['string', 'absent', 90],
      ['timestamp', 'absent', 2],
    ]);
    expect(vanished).toEqual({ string: ['absent'], timestamp: ['absent'] });
    const half = moved({ null: 50, string: 47, timestamp: 3 }, [
      ['null', 'absent', 48],
      ['string', 'absent', 45],
      ['timestamp', 'absent', 3],
    ]);
    expect(half).toEqual({ null: ['absent'], string: ['absent'], timestamp: ['absent'] });
  });
});

describe('schema drift: rows that follow', () => {
  it('move the same field from one of its old value types', () => {
    const past = [
      { field: '출처', moves: { absent: ['string'], null: ['string'] }, sweeps: 3 },
      { field: '부서', moves: { string: ['null'] }, sweeps: 1 },
    ];
    const moved = [
      appears,
      { field: '등급', from: 'absent', to: 'string' },
      { field: '메모', from: 'string', to: 'null' },
    ];
    expect(fieldsFollowingDrift(moved, past)).toEqual(new Set(['출처']));
    expect(fieldsFollowingDrift([{ ...appears, from: 'list' }], past)).toEqual(new Set());
    expect(fieldsFollowingDrift([{ ...appears, to: 'list' }], past)).toEqual(new Set());
  });

  it('follow for three sweeps, and again for three when the field drifts again', () => {
    const drift = { field: '출처', moves: { absent: ['string'] } };
    const first = pastAfter([], [drift]);
    expect(first).toEqual([{ ...drift, sweeps: 3 }]);
    const second = pastAfter(first, [{ field: '등급', moves: { null: ['list'] } }]);
    expect(second).toEqual([
      { ...drift, sweeps: 2 },
      { field: '등급', moves: { null: ['list'] }, sweeps: 3 },
    ]);
    expect(pastAfter(pastAfter(second, []), [])).toEqual([{ field: '등급', moves: { null: ['list'] }, sweeps: 1 }]);
    expect(pastAfter(second, [{ field: '출처', moves: { list: ['string'] } }])).toEqual([
      { field: '등급', moves: { null: ['list'] }, sweeps: 2 },
      { field: '출처', moves: { list: ['string'] }, sweeps: 3 },
    ]);
  });
});
