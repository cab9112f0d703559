import { describe, expect, it } from 'vitest';
import { scoreText } from '../../src/cli/commands/verify.js';
import { fitted, noColours, widthOf } from '../../src/cli/text.js';

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

  it('sentences: the score of verify fits the terminal', () => {
    const missed = { list: 'organization', id: '01937ed4-c3bf-7b02-be44-ac999653321a', verb: 'updated' } as const;
    const delay = { p50: 1, p99: 2, max: 3 };
    const score = {
      ...{ recall: 0.5, found: 1, expected: 2, events: 1, falseEvents: 0, orderViolations: 0, sequenceGaps: 0 },
      ...{ duplicates: 0, delay, inventions: [], actors: { right: 1, wrong: 0, missing: 2 } },
      missed: [{ ...missed, visibleAt: '2026-11-23T03:13:35.006Z' }],
    };
    const text = scoreText(score as never, noColours, 60);
    expect(Math.max(...text.split('\n').map(widthOf))).toBeLessThanOrEqual(60);
    expect(text).toContain(missed.id);
  });
});
