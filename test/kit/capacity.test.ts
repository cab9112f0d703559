import { describe, expect, it } from 'vitest';
import { Capacity } from '../../src/kit/capacity.js';
import type { Clock } from '../../src/kit/clock.js';

/** Its sleeps end when the test says so, as late as it says. */
function heldClock(): Clock & { wake: (lateMs: number) => Promise<void> } {
  let nowMs = 0;
  let wakes: (() => void)[] = [];
  let askedMs = 0;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep(ms) {
      askedMs = ms;
      return new Promise((resolve) => wakes.push(resolve));
    },
    async wake(lateMs) {
      nowMs += askedMs + lateMs;
      const due = wakes;
      wakes = [];
      for (const wake of due) wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const never = new AbortController().signal;

function crowd(count: number, { signal = never } = {}) {
  const clock = heldClock();
  const capacity = new Capacity(clock);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = Array.from({ length: count }, (_, nth) =>
    capacity.run(
      () =>
        new Promise<void>((resolve) => {
          begun.push(nth);
          ends[nth] = resolve;
        }),
      { signal, alive: () => undefined },
    ),
  );
  const settled = Promise.allSettled(work);
  let ended = 0;
  const running = (): number => begun.length - ended;
  const end = async (some: number, lateMs: number): Promise<void> => {
    for (const last = ended + some; ended < last; ended += 1) ends[ended]?.();
    await clock.wake(lateMs);
  };
  return { clock, capacity, begun, running, end, settled };
}

describe('capacity', () => {
  it('a process whose timers are late takes ever fewer, in the order in which they came', async () => {
    const { clock, capacity, begun, running, end } = crowd(100);
    const atFirst = await clock.wake(101).then(running);
    for (let round = 0; round < 12; round += 1) await end(4, 101);
    expect([atFirst, running()]).toEqual([32, expect.toSatisfy((most: number) => most <= 8)]);
    expect(begun).toEqual(Array.from({ length: begun.length }, (_, nth) => nth));
    expect(capacity.waiting.count).toBe(100 - begun.length);
  });

  it('a process whose timers are on time takes all of them, although none ends', async () => {
    const { clock, capacity, running } = crowd(1_000);
    for (let sample = 0; sample < 60; sample += 1) await clock.wake(0);
    expect(running()).toBe(1_000);
    expect(capacity.waiting).toEqual({ count: 0, forMs: 0 });
  });

  it('what takes long keeps no other waiting, also while the timers are late', async () => {
    const { clock, running } = crowd(1_000);
    await clock.wake(0);
    const atFirst = running();
    for (let sample = 0; sample < 60; sample += 1) await clock.wake(500);
    expect(running()).toBeGreaterThan(atFirst + 8);
  });

  it('what waits ends with its signal', async () => {
    const stop = new AbortController();
    const { clock, begun, settled, end } = crowd(100, { signal: stop.signal });
    await clock.wake(0);
    stop.abort(new Error('stopped'));
    await end(begun.length, 0);
    const outcomes = (await settled).map(({ status }) => status);
    expect(outcomes.filter((status) => status === 'fulfilled')).toHaveLength(begun.length);
    expect(outcomes.filter((status) => status === 'rejected')).toHaveLength(100 - begun.length);
  });
});
