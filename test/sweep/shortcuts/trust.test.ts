import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isTrusted,
  noTrust,
  trustAfter,
  trustAfterMiss,
  type Evidence,
  type Trust,
} from '../../../src/sweep/shortcuts/trust.js';

const HOUR = 3_600_000;
const after = (evidence: readonly Evidence[], start: Trust = noTrust(), fromMs = 0): Trust =>
  evidence.reduce((trust, one, index) => trustAfter(trust, one, fromMs + index), start);
const many = (count: number, one: Evidence): Evidence[] => Array.from({ length: count }, () => one);

describe('trust: in a shortcut', () => {
  it('survives a few wrong answers among good ones', () => {
    const trust = after([...many(6, 'right'), ...many(5, 'wrong'), 'useful']);
    expect(isTrusted(trust, 20)).toBe(true);
    expect(trust).toMatchObject({ used: 12, useful: 1, wrong: 5 });
  });

  it('is withdrawn when most answers are wrong, and the shortcut is tried again later', () => {
    const trust = after(many(8, 'wrong'));
    expect([isTrusted(trust, 1_000), isTrusted(trust, 61_000)]).toEqual([false, true]);
  });

  it('doubles the pause after each failed trial, and starts again once the shortcut is proven', () => {
    let trust = after(many(8, 'wrong'));
    const pauses: number[] = [];
    for (let trial = 0; trial < 8; trial++) {
      const now = trust.pausedUntil;
      trust = after(many(3, 'wrong'), trust, now);
      pauses.push(trust.pausedUntil - now - 2);
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 60, 60, 60].map((minutes) => minutes * 60_000));
    expect(after(many(8, 'useful'), trust, trust.pausedUntil).demotions).toBe(0);
  });

  it('is withdrawn from an end that yields nothing while walks find new records', () => {
    let trust = after(many(500, 'none'));
    for (let found = 0; found < 8; found++) trust = trustAfterMiss(trust, 1_000);
    expect(trust).toMatchObject({ used: 500, wrong: 8, demotions: 1 });
  });

  it('does not wait for a pause that a wrong clock has set', () => {
    expect(isTrusted({ ...noTrust(), pausedUntil: 10 * 365 * 24 * HOUR }, 0)).toBe(true);
  });

  const evidence = fc.array(fc.constantFrom<Evidence>('useful', 'right', 'wrong', 'none'), { maxLength: 300 });

  it('counts every use, and never pauses for longer than an hour', () => {
    fc.assert(
      fc.property(evidence, fc.integer({ min: 0, max: 1e12 }), (given, fromMs) => {
        const trust = after(given, noTrust(), fromMs);
        expect(trust.used).toBe(given.length);
        expect(trust.useful).toBe(given.filter((one) => one === 'useful').length);
        expect(trust.wrong).toBe(given.filter((one) => one === 'wrong').length);
        expect(isTrusted(trust, fromMs + given.length + HOUR)).toBe(true);
        expect(trust.recent.good + trust.recent.wrong).toBeLessThan(40);
      }),
    );
  });

  it('is withdrawn from any past within 41 wrong answers', () => {
    fc.assert(
      fc.property(evidence, (past) => {
        const before = after(past);
        expect(after(many(41, 'wrong'), before, 1_000).demotions).toBeGreaterThan(0);
      }),
    );
  });

  it('is never withdrawn without wrong answers', () => {
    fc.assert(
      fc.property(evidence, (past) => {
        const trust = after(past.filter((one) => one !== 'wrong'));
        expect(trust.pausedUntil).toBe(0);
      }),
    );
  });
});
