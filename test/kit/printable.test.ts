import { expect, it, vi } from 'vitest';
import { shorten } from '../../src/kit/printable.js';

const FAMILY = '👩‍👩‍👧‍👦';

it.each<[string, string, number, string]>([
  ['as long as allowed', 'abcde', 5, 'abcde'],
  ['longer', 'abcdef', 5, 'abcd…'],
  ['letters of two code units', '𝒶𝒷𝒸', 3, '𝒶𝒷𝒸'],
  ['an accented letter at the end', 'abcde\u0301f', 6, 'abcd…'],
  ['Korean in its parts', '각각'.normalize('NFD'), 5, `${'각'.normalize('NFD')}…`],
  ...[3, 4, 5, 6, 7, 8, 9].map<[string, string, number, string]>((at) => [
    'a joined emoji',
    `${'x'.repeat(at)}${FAMILY}`,
    9,
    `${'x'.repeat(at).slice(0, 8)}…`,
  ]),
  ['a joined emoji that fits', `x${FAMILY}${FAMILY}`, 9, `x${FAMILY}…`],
])('shortened text: %s', (_what, text, longest, expected) => {
  expect(shorten(text, longest)).toBe(expected);
});

it('shortened text: a long text costs no more than a short one', () => {
  const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
  expect(shorten(FAMILY.repeat(1_000_000), 80)).toBe(`${FAMILY.repeat(11)}…`);
  expect(segment.mock.calls.map(([text]) => text.length)).toEqual([320]);
});
