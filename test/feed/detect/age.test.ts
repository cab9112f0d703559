import { describe, expect, it } from 'vitest';
import { ageOf } from '../../../src/feed/detect/left-alone.js';

const known = '2026-03-01T10:05:30.500Z';

describe('age: an answer compared by modifiedAt', () => {
  it.each([
    ['2026-03-01T10:05:30.501Z', 'newer'],
    ['2026-03-01T10:05:30.500Z', 'unclear'],
    ['2026-03-01T10:05:30.499Z', 'older'],
    ['2026-03-01T10:06:00.000Z', 'newer'],
    ['2026-03-01T19:05:30.499+09:00', 'older'],
  ])('%s is %s', (stamp, age) => {
    expect(ageOf(stamp, known)).toBe(age);
  });

  it('is not older when its time may be cut to the minute of the stored one', () => {
    expect(ageOf('2026-03-01T10:05:00.000Z', known)).toBe('unclear');
    expect(ageOf('2026-03-01T10:05:00.000Z', '2026-03-01T10:05:59.999Z')).toBe('unclear');
    expect(ageOf('2026-03-01T10:04:00.000Z', known)).toBe('older');
    expect(ageOf('2026-03-01T10:04:00.000Z', '2026-03-01T10:05:00.000Z')).toBe('older');
    expect(ageOf('2026-03-01T10:05:01.000Z', known)).toBe('older');
  });

  it.each([
    [null, known],
    [known, null],
    ['yesterday', known],
    [known, 'yesterday'],
    [null, null],
  ])('is unclear when one of them is missing or not a time: %s and %s', (stamp, knownStamp) => {
    expect(ageOf(stamp, knownStamp)).toBe('unclear');
  });
});
