import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ageOf } from '../../../src/feed/detect/left-alone.js';

const instant = fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }).map(Number);
const near = fc.tuple(instant, fc.integer({ min: -180_000, max: 180_000 })).map(([a, by]) => [a, a + by] as const);
const shown = (ms: number, isCut: boolean): string => new Date(isCut ? ms - (ms % 60_000) : ms).toISOString();

it('age: an answer that is older was written before the stored record, whichever times are cut to the minute', () => {
  fc.assert(
    fc.property(near, fc.boolean(), fc.boolean(), ([known, now], knownIsCut, nowIsCut) => {
      const age = ageOf(shown(now, nowIsCut), shown(known, knownIsCut));
      expect(age === 'older' ? now < known : true).toBe(true);
    }),
  );
});
