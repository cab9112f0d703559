import { randomBytes } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { runProfile } from './run-profile.js';

/** The short form of `npm run verify:profiles`: two profiles, a short life, the whole judgement. */
describe('under a sound profile nothing is missed and nothing invented', () => {
  it.each(['wild', 'flaky'])('%s', { timeout: 240_000 }, async (profile) => {
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    const run = { profile, seed: 5, redisUrl: inject('redisUrl'), prefix, rounds: 2, mutationsPerRound: 30 };
    const { score } = await runProfile(run);
    const { recall, falseEvents, orderViolations, sequenceGaps, repeated, missed, inventions } = score;
    expect(score.expected).toBeGreaterThan(20);
    expect({ recall, falseEvents, orderViolations, sequenceGaps, repeated, missed, inventions }).toEqual({
      recall: 1,
      falseEvents: 0,
      orderViolations: 0,
      sequenceGaps: 0,
      repeated: 0,
      missed: [],
      inventions: [],
    });
  });
});
