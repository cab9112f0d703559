import { describe, expect, it } from 'vitest';
import { excerptOf, readRetryAfter } from '../../src/handlers/http/answer.js';

const now = Date.parse('2026-03-02T04:10:00.000Z');

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['30', 30_000],
    [' 30 ', 30_000],
    ['Mon, 02 Mar 2026 04:11:00 GMT', 60_000],
    ['Mon, 02 Mar 2026 04:00:00 GMT', 0],
    ['999999999', 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['1.5', undefined],
    ['-1', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('%j is %s ms', (value, waitMs) => {
    expect(readRetryAfter(value, now)).toBe(waitMs);
  });
});

describe('an excerpt', () => {
  it.each([
    ['', ''],
    [' a\r\n\tb\u0000\u001b[31mc ', 'a b [31mc'],
    ['가'.repeat(201), `${'가'.repeat(199)}…`],
    ['the key is sesame', 'the key is [hidden]'],
  ])('of %j is %j', (text, excerpt) => {
    expect(excerptOf(text, ['sesame', ''])).toBe(excerpt);
  });

  it('webhook excerpt: hides a secret that the cut would split', () => {
    expect(excerptOf(`${'x'.repeat(195)}sesame`, ['sesame'])).toBe(`${'x'.repeat(195)}[hid…`);
  });
});
