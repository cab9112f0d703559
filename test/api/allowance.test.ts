import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowanceAfter } from '../../src/api/allowance.js';
import { DEFAULT_BEHAVIOUR, type Behaviour } from '../../sandbox/faults/behaviour.js';
import { SlidingWindow } from '../../sandbox/faults/rate-limit.js';

const LIMITS = { requests: 100, perSeconds: 10 };
const SECOND = 1_000;
const at = (level: number, agoMs: number): number => allowanceAfter(LIMITS, { level, agoMs }).requests;

describe('budget: what is allowed after a 429', () => {
  it('budget: is a little less than what was accepted before it, and grows by 3 % per window', () => {
    expect([0, 10, 50, 60, 250, 290].map((seconds) => at(50, seconds * SECOND))).toEqual([45, 46, 52, 53, 94, 100]);
  });

  it('budget: lets a tenth be sent at once, but only at the whole budget', () => {
    expect(allowanceAfter(LIMITS, null)).toEqual({ requests: 100, burst: 10 });
    expect(allowanceAfter(LIMITS, { level: 50, agoMs: 0 }).burst).toBe(2);
    expect(allowanceAfter(LIMITS, { level: 50, agoMs: 300 * SECOND })).toEqual({ requests: 100, burst: 10 });
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
});

const SERVER: Behaviour = {
  ...DEFAULT_BEHAVIOUR,
  limitRequests: 100,
  limitWindowMs: 10_000,
  limitHint: 'reason',
  foreignPerSecond: 0,
  latencyMs: 0,
};

interface Life {
  requests?: number;
  /** The other client's requests per second, until it leaves. */
  foreign: number;
  leavesAtSeconds?: number;
  latencyMs?: number;
  seconds: number;
  /** Without it, what is allowed stays the same after a refusal. @defaultValue true */
  adapts?: boolean;
}

/** As pause-budget.lua does: half of the way to a higher level. */
function levelAfter(before: { level: number; atMs: number } | null, accepted: number, nowMs: number): number {
  const isRecent = before !== null && nowMs - before.atMs < 20 * 10 * SECOND;
  return isRecent && accepted > before.level ? Math.floor((accepted + before.level) / 2) : accepted;
}

/** A client that always has work, and a server with the known limit, on a simulated clock. One sample per second. */
function simulate({
  requests = 100,
  foreign,
  leavesAtSeconds = Infinity,
  latencyMs = 150,
  seconds,
  adapts = true,
}: Life) {
  const server = new SlidingWindow();
  const limits = { requests, perSeconds: 10 };
  const windowMs = 10_100;
  let refusal: { level: number; atMs: number } | null = null;
  const refused: { backAtMs: number; waitMs: number }[] = [];
  let [pausedUntilMs, freeMs] = [0, 0];
  const sent: number[] = [];
  const samples: { accepted: number; refused: number; allowed: number }[] = [];
  for (let nowMs = 0; nowMs < seconds * SECOND; nowMs += 10) {
    while (refused[0] !== undefined && refused[0].backAtMs <= nowMs) {
      const { waitMs } = refused.shift()!;
      pausedUntilMs = Math.max(pausedUntilMs, nowMs + Math.max(200, waitMs));
      if (refusal === null || nowMs - refusal.atMs >= SECOND)
        refusal = { level: levelAfter(refusal, sent.length - 1, nowMs), atMs: nowMs };
    }
    while (sent[0] !== undefined && sent[0] + windowMs <= nowMs) sent.shift();
    const known = refusal === null || !adapts ? null : { level: refusal.level, agoMs: nowMs - refusal.atMs };
    const { requests: allowed, burst } = allowanceAfter(limits, known);
    const price = windowMs / allowed;
    const sample = (samples[Math.floor(nowMs / SECOND)] ??= { accepted: 0, refused: 0, allowed });
    while (nowMs >= pausedUntilMs && sent.length < allowed && Math.max(freeMs, nowMs) - (burst - 1) * price <= nowMs) {
      freeMs = Math.max(freeMs, nowMs) + price;
      sent.push(nowMs);
      const foreignPerSecond = nowMs < leavesAtSeconds * SECOND ? foreign : 0;
      const waitMs = server.take(nowMs, { ...SERVER, foreignPerSecond });
      if (waitMs > 0) refused.push({ backAtMs: nowMs + latencyMs, waitMs });
      sample[waitMs > 0 ? 'refused' : 'accepted'] += 1;
    }
  }
  return samples;
}

function totals(samples: ReturnType<typeof simulate>) {
  const accepted = samples.reduce((sum, one) => sum + one.accepted, 0);
  const refused = samples.reduce((sum, one) => sum + one.refused, 0);
  return { perSecond: accepted / samples.length, refusedShare: refused / (accepted + refused) };
}

describe('budget: next to another client', () => {
  it.each([80, 100].flatMap((requests) => [2, 4.6, 5, 7].map((foreign) => ({ requests, foreign }))))(
    'budget: of $requests requests, nine tenths of what $foreign per second leave are used, and 1 answer in 100 is refused',
    ({ requests, foreign }) => {
      for (const latencyMs of [20, 110, 200, 300]) {
        const steady = totals(simulate({ requests, foreign, latencyMs, seconds: 2_400 }).slice(300));
        expect(steady.refusedShare).toBeLessThan(1 / 100);
        expect(steady.perSecond).toBeGreaterThan(0.9 * Math.min(requests / 10, 10 - foreign));
      }
    },
  );

  it('budget: without adapting, many more are refused (control)', () => {
    const steady = totals(simulate({ foreign: 5, seconds: 600, adapts: false }).slice(300));
    expect(steady.refusedShare).toBeGreaterThan(1 / 50);
  });

  it('budget: alone, all is used and nothing is refused', () => {
    const alone = totals(simulate({ foreign: 0, seconds: 600 }).slice(20));
    expect(alone.refusedShare).toBe(0);
    expect(alone.perSecond).toBeGreaterThan(9.8);
  });

  it.each([600, 625, 650, 675, 700])(
    'budget: the whole budget is used again when the other client leaves at %i s',
    (leavesAtSeconds) => {
      const samples = simulate({ foreign: 5, leavesAtSeconds, seconds: leavesAtSeconds + 400 });
      const recovered = samples.findIndex(({ allowed }, second) => second >= leavesAtSeconds && allowed === 100);
      expect(recovered - leavesAtSeconds).toBeLessThanOrEqual(300);
    },
  );
});
