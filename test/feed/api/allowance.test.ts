import fc from 'fast-check';
import { expect, it } from 'vitest';
import { allowanceAfter } from '../../../src/feed/api/allowance.js';
import { DEFAULT_BEHAVIOUR } from '../../../sandbox/faults/behaviour.js';
import { SlidingWindow } from '../../../sandbox/faults/rate-limit.js';

const LIMITS = { requests: 100, perSeconds: 10 };
const SECOND = 1_000;

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

/** A client that always has work beside one that sends so much, and a server with their limit, on a simulated clock, after its first minutes. */
function besideAnother(foreignPerSecond: number, { adapts = true } = {}) {
  const [server, windowMs, seconds] = [new SlidingWindow(), 10_100, 1_200];
  const limit = { limitRequests: 100, limitWindowMs: 10_000, limitHint: 'reason', latencyMs: 0 } as const;
  const back: { atMs: number; waitMs: number }[] = [];
  let refusal: { level: number; atMs: number } | null = null;
  let [pausedUntilMs, freeMs, accepted, refused] = [0, 0, 0, 0];
  const sent: number[] = [];
  for (let nowMs = 0; nowMs < seconds * SECOND; nowMs += 10) {
    while (back[0] !== undefined && back[0].atMs <= nowMs) {
      pausedUntilMs = Math.max(pausedUntilMs, nowMs + Math.max(200, back.shift()!.waitMs));
      if (refusal === null || nowMs - refusal.atMs >= SECOND) refusal = { level: sent.length - 1, atMs: nowMs };
    }
    while (sent[0] !== undefined && sent[0] + windowMs <= nowMs) sent.shift();
    const known = refusal === null || !adapts ? null : { level: refusal.level, agoMs: nowMs - refusal.atMs };
    const { requests, burst } = allowanceAfter(LIMITS, known);
    const price = windowMs / requests;
    while (nowMs >= pausedUntilMs && sent.length < requests && Math.max(freeMs, nowMs) - (burst - 1) * price <= nowMs) {
      freeMs = Math.max(freeMs, nowMs) + price;
      sent.push(nowMs);
      const waitMs = server.take(nowMs, { ...DEFAULT_BEHAVIOUR, ...limit, foreignPerSecond });
      if (waitMs > 0) back.push({ atMs: nowMs + 150, waitMs });
      if (nowMs < 300 * SECOND) continue;
      if (waitMs > 0) refused += 1;
      else accepted += 1;
    }
  }
  return { perSecond: accepted / (seconds - 300), refusedShare: refused / (accepted + refused) };
}

it.each([0, 2, 5, 7])(
  'budget: of what %d per second leave, nine tenths are used, and 1 answer in 100 is refused',
  (foreign) => {
    const { perSecond, refusedShare } = besideAnother(foreign);
    expect(refusedShare).toBeLessThan(1 / 100);
    expect(perSecond).toBeGreaterThan(0.9 * (10 - foreign));
  },
);

it('budget: without adapting, many more are refused (control)', () => {
  expect(besideAnother(5, { adapts: false }).refusedShare).toBeGreaterThan(1 / 50);
});
