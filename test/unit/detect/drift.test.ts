import { describe, expect, it } from 'vitest';
import {
  decideDrift,
  followers,
  isOrdinary,
  isUnusual,
  noDrift,
  pastAfter,
  tallied,
  transitions,
  type DriftTally,
} from '../../../src/detect/drift.js';
import { schemaFrom, type SchemaTally } from '../../../src/detect/schema.js';

/** A list of so many rows, of which so many have a field in a form: `{ 'string\t등급': 80 }`. */
const listOf = (rows: number, forms: Record<string, number> = {}): SchemaTally =>
  schemaFrom([['rows', rows], ...Object.entries(forms)]);

const appears = { field: '출처', from: 'absent', to: 'string' };

/** A sweep over `rows` known rows of which those that `moves` names gain the field 출처. */
function swept(
  rows: number,
  moves: (row: number) => boolean,
  given: { schema?: SchemaTally; drift?: DriftTally } = {},
) {
  const { schema = listOf(rows), drift = noDrift() } = given;
  return Array.from({ length: rows }, (_, row) => row).reduce(
    (tally, row) => tallied(tally, moves(row) ? [appears] : [], schema),
    drift,
  );
}

describe('the fields of a row that took another form', () => {
  it('are those that came, went or are of another type, and no others', () => {
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

describe('an unusual step', () => {
  const step = (from: string, to: string) => ({ field: '등급', from, to });

  it('leads to a form that at most a tenth of the rows have, from one that at least ten have', () => {
    const schema = (strings: number, numbers: number) =>
      listOf(100, { 'string\t등급': strings, 'number\t등급': numbers });
    const unusual = (strings: number, numbers: number): boolean =>
      isUnusual(step('string', 'number'), schema(strings, numbers), noDrift());
    expect([unusual(90, 0), unusual(90, 10), unusual(89, 11)]).toEqual([true, true, false]);
    expect([unusual(10, 10), unusual(9, 10), unusual(0, 10)]).toEqual([true, false, false]);
  });

  it('may be one into or out of absence, which is counted as the rows without the key', () => {
    expect(isUnusual(step('absent', 'string'), listOf(100, { 'string\t등급': 10 }), noDrift())).toBe(true);
    expect(isUnusual(step('absent', 'string'), listOf(100, { 'string\t등급': 11 }), noDrift())).toBe(false);
    expect(isUnusual(step('string', 'absent'), listOf(100, { 'string\t등급': 90 }), noDrift())).toBe(true);
    expect(isUnusual(step('string', 'absent'), listOf(100, { 'string\t등급': 89 }), noDrift())).toBe(false);
  });

  it('is none in a list of fewer than ten rows, even of a field on the move', () => {
    const moving = tallied(noDrift(), [appears], listOf(10));
    expect(isUnusual(appears, listOf(10), noDrift())).toBe(true);
    expect([isUnusual(appears, listOf(9), noDrift()), isUnusual(appears, listOf(9), moving)]).toEqual([false, false]);
  });

  it('is any of a field that is on the move already', () => {
    const moving = tallied(noDrift(), [appears], listOf(100));
    const usual = listOf(100, { 'string\t출처': 50, 'string\t등급': 50 });
    expect(isUnusual(appears, usual, moving)).toBe(true);
    expect(isUnusual({ ...appears, field: '등급' }, usual, moving)).toBe(false);
  });

  it.each(['constructor', '__proto__'])('is judged alike for a field that is called %s', (field) => {
    const half = listOf(100, { [`string\t${field}`]: 50 });
    expect(isUnusual({ ...appears, field }, half, noDrift())).toBe(false);
    const moving = JSON.parse(JSON.stringify(tallied(noDrift(), [{ ...appears, field }], listOf(100)))) as DriftTally;
    expect(Object.entries(moving.fields).map(([name, { moved }]) => [name, moved])).toEqual([[field, 1]]);
    expect(isUnusual({ ...appears, field }, half, moving)).toBe(true);
  });
});

describe('what a sweep has seen of drift', () => {
  it('counts every known row, and per field who moved, from where to where, since which row', () => {
    const schema = listOf(100, { 'string\t출처': 4 });
    const drift = [[], [appears], [], [{ ...appears, to: 'null' }], [appears]].reduce<DriftTally>(
      (tally, moved) => tallied(tally, moved, schema),
      noDrift(['메모']),
    );
    expect(drift).toEqual({
      rows: 5,
      fields: {
        출처: {
          moved: 3,
          after: 1,
          from: { absent: 3 },
          to: { string: 2, null: 1 },
          forms: { string: 4, absent: 96 },
        },
      },
      carried: ['메모'],
      released: false,
    });
  });

  it('begins with nothing', () => {
    expect(noDrift()).toEqual({ rows: 0, fields: {}, carried: [], released: false });
  });
});

describe('at the end of a sweep', () => {
  it('a field that moved on nine tenths of the rows that could is one change of the schema', () => {
    expect(decideDrift(swept(100, (row) => row < 90))).toEqual({
      drifted: [{ field: '출처', kind: 'appeared', rows: 90, share: 0.9, before: ['absent'], after: ['string'] }],
      undecided: [],
    });
    expect(decideDrift(swept(100, (row) => row < 89))).toEqual({ drifted: [], undecided: [] });
  });

  it('the share is told to the thousandth, and is never more than all', () => {
    expect(decideDrift(swept(97, (row) => row > 3)).drifted).toMatchObject([{ rows: 93, share: 0.959 }]);
    // More rows moved than the schema had counted when the first of them did.
    expect(decideDrift(swept(97, () => true, { schema: listOf(20) })).drifted).toMatchObject([{ rows: 97, share: 1 }]);
  });

  it('fewer than ten rows are no change of the schema, though they are all there are', () => {
    expect(decideDrift(swept(9, () => true))).toEqual({ drifted: [], undecided: [] });
    expect(decideDrift(swept(10, () => true)).drifted).toMatchObject([{ rows: 10 }]);
  });

  it('only rows that could move count: those that had the old form', () => {
    const schema = listOf(100, { 'null\t출처': 60, 'string\t출처': 40 });
    const fills = { field: '출처', from: 'null', to: 'list' };
    const some = (count: number) =>
      Array.from({ length: count }).reduce<DriftTally>((tally) => tallied(tally, [fills], schema), noDrift());
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
    })).reduce<DriftTally>((tally, moved) => tallied(tally, [moved], schema), noDrift());
    expect(decideDrift(drift).drifted).toEqual([{ field: '출처', kind, rows: 12, share: 1, before: from, after: to }]);
  });

  it('three forms are shown, the most frequent first', () => {
    const forms = ['boolean', 'string', 'string', 'string', 'number', 'number', 'list', 'string', 'number', 'list'];
    const drift = forms.reduce<DriftTally>((tally, to) => tallied(tally, [{ ...appears, to }], listOf(10)), noDrift());
    expect(decideDrift(drift).drifted.map(({ after }) => after)).toEqual([['string', 'number', 'list']]);
  });
});

describe('a field that moved on nearly all rows from some row on', () => {
  const half = (row: number): boolean => row >= 50;

  it('waits for the next sweep: the schema may have changed in mid-sweep', () => {
    expect(decideDrift(swept(100, half))).toEqual({ drifted: [], undecided: ['출처'] });
    expect(decideDrift(swept(100, (row) => half(row) && row < 95)).undecided).toEqual(['출처']);
    expect(decideDrift(swept(100, (row) => half(row) && row < 94)).undecided).toEqual([]);
  });

  it('waits once: the second sweep decides', () => {
    expect(decideDrift(swept(100, half, { drift: noDrift(['출처']) })).undecided).toEqual([]);
    expect(decideDrift(swept(100, half, { drift: noDrift(['다른']) })).undecided).toEqual(['출처']);
  });

  it('counts as such by the share of the list that could move at all', () => {
    const schema = listOf(100, { 'string\t출처': 50 });
    expect(decideDrift(swept(100, (row) => row >= 50 && row % 2 === 0, { schema })).undecided).toEqual(['출처']);
    expect(decideDrift(swept(100, (row) => row >= 50 && row % 3 === 0, { schema })).undecided).toEqual([]);
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
});

describe('rows that follow a drift', () => {
  it('are those of its field that come from one of its old forms', () => {
    const past = [
      { field: '출처', from: ['absent', 'null'], sweeps: 3 },
      { field: '부서', from: ['string'], sweeps: 1 },
    ];
    const moved = [
      appears,
      { field: '등급', from: 'absent', to: 'string' },
      { field: '메모', from: 'string', to: 'null' },
    ];
    expect(followers(moved, past)).toEqual(new Set(['출처']));
    expect(followers([{ ...appears, from: 'list' }], past)).toEqual(new Set());
  });

  it('follow for three sweeps after it, and anew when it drifts again', () => {
    const drift = { field: '출처', from: ['absent'] };
    const first = pastAfter([], [drift]);
    expect(first).toEqual([{ ...drift, sweeps: 3 }]);
    const second = pastAfter(first, [{ field: '등급', from: ['null'] }]);
    expect(second).toEqual([
      { ...drift, sweeps: 2 },
      { field: '등급', from: ['null'], sweeps: 3 },
    ]);
    expect(pastAfter(pastAfter(second, []), [])).toEqual([{ field: '등급', from: ['null'], sweeps: 1 }]);
    expect(pastAfter(second, [{ field: '출처', from: ['list'] }])).toEqual([
      { field: '등급', from: ['null'], sweeps: 2 },
      { field: '출처', from: ['list'], sweeps: 3 },
    ]);
  });
});
