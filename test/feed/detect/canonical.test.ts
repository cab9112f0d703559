import { describe, expect, it } from 'vitest';
import { canonicalText, diffRecords } from '../../../src/crm/canonical.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { compileRules, type FieldRules } from '../../../src/feed/detect/rules.js';

const text = (record: UncheckedRecord, options?: FieldRules): string =>
  canonicalText(record, compileRules('people', options));
const holding = (value: unknown): string => text({ 값: value });

describe('canonical form: the text', () => {
  it('orders fields and nested keys, without timestamps and empty values', () => {
    const record = {
      이름: '김민수',
      담당자: { name: '담당A', id: 'u1', 별명: null },
      딜: 2,
      활성: false,
      비고: null,
      목록: [],
      빈값: undefined,
      '수정 날짜': '2026-02-20T08:00:00.000Z',
    };
    expect(text(record)).toBe('{"담당자":{"id":"u1","name":"담당A"},"딜":2,"이름":"김민수","활성":false}');
    expect(text(Object.fromEntries(Object.entries(record).reverse()))).toBe(text(record));
  });

  it('distinguishes empty values when the rules say so', () => {
    expect(text({ a: null, b: [], c: { d: null, e: undefined }, f: undefined }, { nullIsAbsent: false })).toBe(
      '{"a":null,"b":[],"c":{"d":null,"e":null},"f":null}',
    );
    expect(text({ a: null, b: [], c: { d: null } })).toBe('{"c":{}}');
  });

  it('keeps the position of a null in a list', () => {
    expect(holding(['a', null, 'b', []])).toBe('{"값":["a",null,"b",null]}');
  });

  it('distinguishes a list from its joined elements, and fields from one long field', () => {
    expect(holding(['a', 'b'])).not.toBe(holding(['a,b']));
    expect(text({ a: 'x', b: 'y' })).not.toBe(text({ a: 'x,b:y' }));
    expect(holding({ a: 1, b: 2 })).not.toBe(holding({ 'a:1,b': 2 }));
  });
});

describe('canonical form: a set of references', () => {
  const [one, two, three] = [
    { id: 't1', name: '1팀' },
    { id: 't2', name: '2팀' },
    { id: 't3', name: '3팀' },
  ];

  it('differs when a reference is added, removed, repeated or renamed', () => {
    const sets = [[one, two], [one], [one, two, three], [one, one, two], [one, { ...two, name: '개명' }]];
    expect(new Set(sets.map(holding)).size).toBe(sets.length);
  });

  it.each([
    ['numbers', [1, 2]],
    ['texts and other things', ['a', 1]],
    ['objects without an id', [{ name: 'a' }, { name: 'b' }]],
    ['objects whose id is no text', [{ id: 1 }, { id: 2 }]],
    ['objects whose _id is no text', [{ _id: 1 }, { _id: 2 }]],
    ['references and other things', [one, 'text']],
    ['a reference and nothing', [one, null]],
    ['lists of references', [[two], [one]]],
  ])('is not what a list of %s is: its order counts', (_what, items) => {
    expect(holding(items)).not.toBe(holding(items.toReversed()));
  });
});

describe('canonical form: names', () => {
  it('are compared under NFC, at every depth', () => {
    const composed = { 담당자: { 이름: '가' } };
    const decomposed = { ['담당자'.normalize('NFD')]: { ['이름'.normalize('NFD')]: '가' } };
    expect(text(decomposed)).toBe(text(composed));
  });

  it('in values are never normalised', () => {
    expect(holding('가')).not.toBe(holding('가'.normalize('NFD')));
  });

  it('in both Unicode forms in one record are two fields, each by its own spelling, at every depth', () => {
    const [one, two] = ['등급', '등급'.normalize('NFD')];
    const before = { [one]: 'A', [two]: 'B', 안: { [one]: 1, [two]: 2 } };
    const diffed = (after: UncheckedRecord): unknown => diffRecords(before, after, compileRules('people'));
    expect(diffed({ ...before, [one]: 'X' })).toEqual([{ field: one, before: 'A', after: 'X' }]);
    expect(diffed({ ...before, [two]: 'X' })).toEqual([{ field: two, before: 'B', after: 'X' }]);
    expect(diffed({ [two]: 'B', 안: before['안'] })).toEqual([{ field: one, before: 'A', after: null }]);
    expect(diffed({ ...before, 안: { [one]: 3, [two]: 2 } })).toHaveLength(1);
    expect(text({ ...before, [one]: 'X' })).not.toBe(text(before));
    expect(text({ ...before, [one]: 'X' }, { ignore: [one] })).toBe(text(before, { ignore: [one] }));
  });

  it.each(['constructor', '__proto__', 'toString'])('may be %s, which every object of the language knows', (name) => {
    const record = Object.fromEntries([[name, { [name]: 1 }]]);
    for (const list of ['people', 'todo'] as const) {
      expect(diffRecords({}, record, compileRules(list)).map(({ field }) => field)).toEqual([name]);
    }
  });
});

describe('canonical form: a difference', () => {
  const diff = (before: UncheckedRecord, after: UncheckedRecord) => diffRecords(before, after, compileRules('people'));

  it('names added, removed and changed fields, sorted by name, with the values as received', () => {
    const [one, two] = [{ id: 't1' }, { id: 't2' }];
    expect(diff({ 하: 1, 나: [two, one], 다: 'same' }, { 다: 'same', 나: [two], 가: { x: null } })).toEqual([
      { field: '가', before: null, after: { x: null } },
      { field: '나', before: [two, one], after: [two] },
      { field: '하', before: 1, after: null },
    ]);
  });

  it('names a field as the new record spells it, and as the old one did when it is gone', () => {
    const old = '담당자'.normalize('NFD');
    expect(diff({ [old]: 'a' }, { 담당자: 'b' }).map(({ field }) => field)).toEqual(['담당자']);
    expect(diff({ 담당자: 'a' }, { [old]: 'b' }).map(({ field }) => field)).toEqual([old]);
    expect(diff({ [old]: 'a' }, {}).map(({ field }) => field)).toEqual([old]);
  });
});
