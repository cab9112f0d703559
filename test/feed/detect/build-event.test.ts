import { describe, expect, it } from 'vitest';
import { epochAfter, firstSequenceOf, nextSequence } from '../../../src/events/envelope.js';

describe('build event: the sequence', () => {
  it('counts on, and in a new epoch is above everything that was given out before', () => {
    expect(nextSequence(7, {})).toBe(8);
    expect(nextSequence(7, { epoch: 3 })).toBeGreaterThan(nextSequence(1_000_000, { epoch: 2 }));
    expect(nextSequence(nextSequence(7, { epoch: 3 }), { epoch: 3 })).toBe(nextSequence(7, { epoch: 3 }) + 1);
  });

  it('stays an exact number in epochs of today, which follow the time of day and every epoch that is known', () => {
    const today = epochAfter(0, Date.UTC(2200, 0, 1));
    expect(Number.isSafeInteger(firstSequenceOf(today) + 1_000_000)).toBe(true);
    expect(epochAfter(today, Date.UTC(2026, 0, 1))).toBe(today + 1);
  });
});
