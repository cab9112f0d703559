import { describe, expect, it } from 'vitest';
import { excerptOf } from '../../../src/delivery/handlers/http/post.js';

describe('an excerpt', () => {
  it.each([
    ['', ''],
    [' a\r\n\tb\u0000\u001b[31mc ', 'a b[31mc'],
    ['가'.repeat(201), `${'가'.repeat(199)}…`],
    ['the key is sesame', 'the key is [hidden]'],
  ])('of %j is %j', (text, excerpt) => {
    expect(excerptOf(text, ['sesame', ''])).toBe(excerpt);
  });

  it('webhook excerpt: hides a secret that the cut would split', () => {
    expect(excerptOf(`${'x'.repeat(195)}sesame`, ['sesame'])).toBe(`${'x'.repeat(195)}[hid…`);
  });
});
