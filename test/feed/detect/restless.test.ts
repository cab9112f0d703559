import { expect, it } from 'vitest';
import { isOften, restlessAfter, type RestlessField } from '../../../src/feed/detect/restless.js';
import { compileRules, type FieldRules } from '../../../src/feed/detect/rules.js';

const HOUR = 3_600_000;

interface Sweep {
  hour: number;
  rows?: number;
  rules?: FieldRules;
}

/** Sweeps of a list of 40, in which so many rows have an edit of the field. */
function after(...sweeps: Sweep[]): RestlessField[] {
  return sweeps.reduce<RestlessField[]>((before, { hour, rows = 0, rules = {} }) => {
    const at = new Date(Date.UTC(2026, 2, 1) + hour * HOUR).toISOString();
    const edited = rows === 0 ? {} : { 일수: rows, 이름: 3 };
    return restlessAfter(before, { at, seen: 40, edited, rules: compileRules('people', rules) });
  }, []);
}
const often = (...sweeps: Sweep[]): string[] =>
  after(...sweeps)
    .filter(isOften)
    .map(({ field }) => field);
const nightly = (nights: number): Sweep[] =>
  Array.from({ length: nights * 24 }, (_, hour) => ({ hour, rows: hour % 24 === 3 ? 40 : 0 }));

it.each<[string, Sweep[], string[]]>([
  ['in three sweeps in a row', [1, 2, 3].map((hour) => ({ hour, rows: 21 })), ['일수']],
  ['in two', [1, 2].map((hour) => ({ hour, rows: 40 })), []],
  ['on half of the rows', [1, 2, 3].map((hour) => ({ hour, rows: 20 })), []],
  ['every night, for three', nightly(3), ['일수']],
  ['every night, for two', nightly(2), []],
  ['three times, a week apart', [0, 168, 336].map((hour) => ({ hour, rows: 40 })), []],
  ['often, and then not for days', [...nightly(5), { hour: 240 }], []],
  ['often, until the field is ignored', [...nightly(3), { hour: 72, rules: { ignore: ['일*'] } }], []],
  ['often, until it is kept by the system', [...nightly(3), { hour: 72, rules: { refreshed: ['일*'] } }], []],
])('restless: a field is edited on most rows %s', (_what, sweeps, expected) => {
  expect(often(...sweeps)).toEqual(expected);
});

it('restless: a field says how often, on how many rows, and since when', () => {
  const at = (hour: number): string => new Date(Date.UTC(2026, 2, 1, hour)).toISOString();
  expect(after({ hour: 1, rows: 40 }, { hour: 2, rows: 30 }, { hour: 2.1 }, { hour: 4, rows: 36 })).toEqual([
    { field: '일수', share: 0.9, times: 3, since: at(1), at: at(4), keptMs: 6 * HOUR },
  ]);
});
