import { describe, expect, it } from 'vitest';
import { compileRules, type FieldRules } from '../../../src/feed/detect/rules.js';

const fields = ['이름', '담당자', '등급', '등급 사유', '수정 날짜', 'updatedAt'];
const compared = (options?: FieldRules): string[] => fields.filter(compileRules('people', options).compares);
const muted = (options?: FieldRules): (string | null)[] => fields.map(compileRules('people', options).mutedBy);

describe('rules: fields', () => {
  it('compare everything but timestamps by default', () => {
    expect(compared()).toEqual(['이름', '담당자', '등급', '등급 사유']);
    expect(muted()).toEqual([null, null, null, null, 'stamp', 'stamp']);
    const { list, nullIsAbsent, touch, collapse } = compileRules('people');
    expect({ list: list.name, nullIsAbsent, touch, collapse }).toEqual({
      list: 'people',
      nullIsAbsent: true,
      touch: false,
      collapse: true,
    });
  });

  it('treat further fields as kept by the system', () => {
    const { isSystemKept } = compileRules('people', { refreshed: ['등급'] });
    expect(['등급', '딜 개수', '이름', '등급 사유'].filter(isSystemKept)).toEqual(['등급', '딜 개수']);
    expect(compileRules('memo').isSystemKept('이름')).toBe(false);
  });

  it('match a Korean name in either Unicode form', () => {
    expect(compared({ ignore: ['등급'.normalize('NFD')] })).toEqual(['이름', '담당자', '등급 사유']);
  });
});

describe('rules: a field pattern', () => {
  const matches = (pattern: string, field: string): boolean =>
    !compileRules('memo', { ignore: [pattern] }).compares(field);

  it('stands for the whole name, with * for any run of characters, none and line breaks among them', () => {
    expect(['등급', '등급 사유', '내 등급', '등\n급'].filter((name) => matches('등급', name))).toEqual(['등급']);
    expect(['등급', '등급 사유', '등급\n사유', '내 등급'].filter((name) => matches('등급*', name))).toEqual([
      '등급',
      '등급 사유',
      '등급\n사유',
    ]);
    expect(['a-b', 'a--b', 'ab', 'a-bc'].filter((name) => matches('a*-b', name))).toEqual(['a-b', 'a--b']);
  });

  it.each(['a.b', 'a+b', 'a?b', 'a^b', 'a$b', 'a(b)', 'a[b]', 'a{1}', 'a|b', 'a\\b', 'a/b', 'a\\d', '[a', 'a-b'])(
    'takes %s as it is spelled',
    (name) => {
      expect(matches(name, name)).toBe(true);
      expect(['axb', 'ab', 'aab', 'a', 'b', 'a1', 'aa'].filter((other) => matches(name, other))).toEqual([]);
    },
  );
});
