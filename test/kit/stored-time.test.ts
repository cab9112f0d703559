import { expect, it } from 'vitest';
import { agoMs, isYounger, knownMs } from '../../src/kit/stored-time.js';

const NOW = Date.parse('2026-03-01T10:00:00.000Z');
const at = (ms: number): string => new Date(NOW + ms).toISOString();

it('stored time: one in the future is unknown, but for the ten seconds by which clocks of two processes may differ', () => {
  expect([at(-5_000), at(0), at(10_000), at(10_001), 'x', null].map((time) => knownMs(time, NOW))).toEqual(
    [-5_000, 0, 10_000, null, null, null].map((ms) => (ms === null ? null : NOW + ms)),
  );
  expect([NOW - 5_000, NOW + 10_000, NOW + 10_001].map((time) => agoMs(time, NOW))).toEqual([5_000, 0, null]);
});

it('stored time: what is unknown is not recent', () => {
  const recent = (time: string | null) => isYounger(time, NOW, 10_000);
  expect([at(-9_999), at(0), at(10_000)].map(recent)).toEqual([true, true, true]);
  expect([at(-10_000), at(10_001), 'x', null].map(recent)).not.toContain(true);
});
