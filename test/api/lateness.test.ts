import { describe, expect, it } from 'vitest';
import { createLateness } from '../../src/api/lateness.js';

describe('budget: requests that reached the server late', () => {
  /** One request every 100 ms, each answered after this time. */
  function after(answers: readonly number[]) {
    const lateness = createLateness({ windowMs: 10_000, toleranceMs: 50 });
    answers.forEach((tookMs, nth) => {
      const sent = lateness.sent(String(nth), nth * 100);
      lateness.answered(sent, nth * 100 + tookMs);
    });
    return lateness;
  }

  it('are those that took longer than the others, even if they were the first', () => {
    expect(after([900, 450, 200, 210, 190, 220, 200]).late(7_000)).toEqual([
      { id: '0', byMs: 690 },
      { id: '1', byMs: 240 },
    ]);
  });

  it('are known half a window later, once', () => {
    const lateness = after([900, 200, 200]);
    expect([lateness.late(4_900), lateness.late(5_100), lateness.late(5_200)].map(({ length }) => length)).toEqual([
      0, 1, 0,
    ]);
  });

  it('are none when all answers take as long', () => {
    expect(after(Array.from({ length: 50 }, (_, nth) => 5_000 + (nth % 40))).late(20_000)).toEqual([]);
  });

  it('are not those without an answer', () => {
    const lateness = after([200, 200]);
    lateness.sent('lost', 0);
    expect(lateness.late(60_000)).toEqual([]);
  });
});
