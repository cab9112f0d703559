import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowanceAfter } from '../../src/api/allowance.js';

const LIMITS = { requests: 100, perSeconds: 10 };
const SECOND = 1_000;

describe('budget: what is allowed after a 429', () => {
  it('budget: is less than what was accepted before it, and five minutes later all again, a tenth of it at once', () => {
    expect(allowanceAfter(LIMITS, { level: 50, agoMs: 0 }).requests).toBeLessThan(50);
    expect(allowanceAfter(LIMITS, { level: 50, agoMs: 300 * SECOND })).toEqual(allowanceAfter(LIMITS, null));
    expect(allowanceAfter(LIMITS, null)).toEqual({ requests: 100, burst: 10 });
  });

  it('budget: never exceeds the limits, never falls below a tenth, and only grows with time', () => {
    const limits = fc.record({
      requests: fc.integer({ min: 1, max: 10_000 }),
      perSeconds: fc.integer({ min: 1, max: 3_600 }),
    });
    const share = fc.double({ min: 0, max: 1.5, noNaN: true });
    fc.assert(
      fc.property(limits, share, fc.array(fc.double({ min: 0, max: 20, noNaN: true })), (given, used, windows) => {
        const level = Math.round(given.requests * used);
        const allowed = [0, ...windows.sort((one, other) => one - other)].map(
          (passed) => allowanceAfter(given, { level, agoMs: passed * given.perSeconds * SECOND }).requests,
        );
        expect(Math.max(...allowed)).toBeLessThanOrEqual(given.requests);
        expect(Math.min(...allowed)).toBeGreaterThanOrEqual(Math.max(1, Math.floor(given.requests / 10)));
        expect(allowed).toEqual([...allowed].sort((one, other) => one - other));
      }),
    );
  });
});
