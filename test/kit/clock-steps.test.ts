import { expect, it } from 'vitest';
import { watchSteps, systemClock } from '../../src/kit/clock.js';
import { skippingClock } from '../support/fast-clock.js';

it('clock steps: a step is reported for ten minutes; slow drift and waits are none', () => {
  const clock = skippingClock({ ...systemClock, now: () => 0, monotonic: () => 0 });
  const last = watchSteps(clock);
  for (let nth = 0; nth < 10; nth += 1) {
    clock.step(9_000);
    expect(last()).toBeNull();
  }
  clock.skip(3_600_000);
  expect(last()).toBeNull();
  clock.step(-7_200_000);
  expect(last()).toEqual({ byMs: -7_200_000, agoMs: 0 });
  clock.skip(599_000);
  expect(last()).toEqual({ byMs: -7_200_000, agoMs: 599_000 });
  clock.skip(2_000);
  expect(last()).toBeNull();
});
