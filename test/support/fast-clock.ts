/** A clock that runs `factor` times as fast as real time: waits are shorter, but none is skipped. */
import { systemClock, type Clock } from '../../src/kit/clock.js';

/** @param began where that of another process began: both show the same time */
export function fastClock(factor: number, began = { nowMs: systemClock.now(), atMs: sinceEpoch() }): Clock {
  return {
    now: () => Math.round(began.nowMs + (sinceEpoch() - began.atMs) * factor),
    monotonic: () => Math.round(performance.now() * factor),
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  };
}

/** The same clock, which can also be put forward, or be stepped as by a person. Waits under way are not cut short. */
export function skippingClock(clock: Clock): Clock & { skip(ms: number): void; step(ms: number): void } {
  let [skippedMs, steppedMs] = [0, 0];
  return {
    now: () => clock.now() + skippedMs + steppedMs,
    monotonic: () => clock.monotonic() + skippedMs,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    skip: (ms) => (skippedMs += ms),
    step: (ms) => (steppedMs += ms),
  };
}

/** Of a clock that is not stepped. */
function sinceEpoch(): number {
  return performance.timeOrigin + performance.now();
}
