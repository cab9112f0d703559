import { describe, expect, it } from 'vitest';
import { valueTypeOf, isEmptyValueType, keysOfValueType } from '../../../../src/feed/detect/schema-drift/schema.js';

describe('value type: a value', () => {
  it.each([
    [undefined, 'absent'],
    [null, 'null'],
    [true, 'boolean'],
    [0, 'number'],
    ['', 'string'],
    ['김민수', 'string'],
    [[], 'empty list'],
    [['a', 'b'], 'list of string'],
    [['a', 1], 'list'],
    [[['a']], 'list of list of string'],
    [
      [
        { id: 'a', name: 'b' },
        { name: 'c', id: 'd' },
      ],
      'list of {id, name}',
    ],
    [{}, '{}'],
    [{ name: 'b', id: 'a' }, '{id, name}'],
    [{ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1 }, '{a, b, c, d, e, f, g, h}'],
    [{ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1 }, 'object'],
  ])('%j is %s', (value, form) => {
    expect(valueTypeOf(value)).toBe(form);
  });

  it.each(['2026-03-01T10:00:00.1Z', '2026-03-01T10:00:01Z', '2026-03-01T10:00:59.000-0900'])(
    '%s is a timestamp',
    (text) => {
      expect(valueTypeOf(text)).toBe('timestamp');
    },
  );

  it.each(['2026-03-01T10:00Z', '2026-03-01T10:00:00Z', '2026-03-01T10:00:00+09:00'])(
    '%s is a timestamp to the minute',
    (text) => {
      expect(valueTypeOf(text)).toBe('timestamp to the minute');
    },
  );

  it.each([
    'x2026-03-01T10:00:00Z',
    '2026-03-01T10:00:00Zx',
    '2026-03-01',
    '2026-03-01T10:00:00',
    '2026-03-01 10:00:00Z',
    '2026-03-01T1:00:00Z',
    '2026-03-01T10:00:00+9:00',
    '2026-03-01T10:00:00*09:00',
    'abcd-ef-ghTij:kl:mnZ',
    '2026-03-01T10:00:00+ab:00',
  ])('%s is a text like any other', (text) => {
    expect(valueTypeOf(text)).toBe('string');
  });
});

it.each([
  [[], '{}'],
  [['a'], '{a}'],
  [['first name', '담당자', 'x-y'], '{first name, x-y, 담당자}'],
  [['a, b', 'c'], '{"a, b", c}'],
  [['', ' a', 'b '], '{"", " a", b }'],
  [['q"', '{', '}', '\\', 'a\tb', '\\"'], String.raw`{\, "\\\"", "a\tb", "q\"", "{", "}"}`],
])('value type: an object names the keys %j whatever their values, and parses back to them', (keys, form) => {
  expect(valueTypeOf(Object.fromEntries(keys.map((key) => [key, 1])))).toBe(form);
  expect(keysOfValueType(form)).toEqual([...keys].sort());
});

it('value type: empty is absent, null or an empty list, and no other', () => {
  const forms = ['absent', 'null', 'empty list', 'string', 'list', '{}', ''];
  expect(forms.filter(isEmptyValueType)).toEqual(['absent', 'null', 'empty list']);
});
