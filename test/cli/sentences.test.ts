import { describe, expect, it } from 'vitest';
import { fitted, widthOf } from '../../src/cli/text.js';

describe('sentences', () => {
  const error =
    'changefeed: 두 목록 of the workspace could not be read. Start Redis, or correct the address in REDIS_URL.';

  it('sentences: are continued between words on a terminal, and keep their words', () => {
    const lines = fitted(error, 40).split('\n');
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(40);
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\S/);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(error);
    expect(fitted(error)).toBe(error);
  });

  it('sentences: a code frame keeps its lines, because its marker points at a column', () => {
    const frame = `  > 1 | ${'x '.repeat(40)}\n      | ${' '.repeat(60)}^`;
    expect(fitted(frame, 40)).toBe(frame);
  });
});
