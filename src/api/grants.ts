/**
 * How a process gets grants from the window that all processes share: how many requests are allowed after a 429 (`allowance.ts`), and how
 * long the window must be so that the server never sees more.
 */
import type { Clock } from '../runtime/clock.js';
import { allowanceAfter } from './allowance.js';
import type { BudgetLimits, BudgetWindow, Refusal, WindowAsk } from './budget.js';
import { createLateness } from './lateness.js';

export interface Grants {
  /** Asks for grants: one for each of the ids, and how long to wait before the next is free. */
  ask(wanted: number): Promise<{ ids: readonly string[]; waitMs: number }>;
  /** The request with this id is sent now. Call the result when it has its answer. */
  sent(id: string): () => void;
  /** After a 429. */
  refused(pauseMs: number): Promise<void>;
}

export interface GrantsOptions {
  window: BudgetWindow;
  limits: BudgetLimits;
  clock: Clock;
}

/**
 * The window is longer than the server's by this share, or by the slowest grant of the last two windows if that took longer. Requests are
 * counted when they are granted, and the server counts them when they arrive: a slow one and a fast one behind it are closer together there.
 */
const MARGIN = 0.01;
/** A refusal is remembered for longer than the allowance takes to recover from it. */
const RECENT_WINDOWS = 20;

interface Slowest {
  tookMs: number;
  atMs: number;
}

export function createGrants({ window, limits, clock }: GrantsOptions): Grants {
  const limitMs = limits.perSeconds * 1_000;
  const lateness = createLateness({ windowMs: limitMs, toleranceMs: (limitMs * MARGIN) / 2 });
  let refusal: (Refusal & { seenAtMs: number }) | null = null;
  let slowest: Slowest = { tookMs: 0, atMs: 0 };

  const allowance = (nowMs: number): Pick<WindowAsk, 'allowed' | 'burst' | 'refusal'> => {
    const known = refusal && { level: refusal.level, agoMs: refusal.agoMs + nowMs - refusal.seenAtMs };
    const { requests: allowed, burst } = allowanceAfter(limits, known);
    return { allowed, burst, refusal: refusal?.id ?? null };
  };
  return {
    async ask(wanted) {
      const nowMs = clock.now();
      const windowMs = Math.ceil(limitMs + Math.max(limitMs * MARGIN, slowest.tookMs));
      const answer = await window.take({ wanted, windowMs, late: lateness.late(nowMs), ...allowance(nowMs) });
      slowest = slowerOf(slowest, { tookMs: clock.now() - nowMs, atMs: nowMs }, 2 * limitMs);
      if (answer.outcome === 'granted') return answer;
      refusal = answer.refusal && { ...answer.refusal, seenAtMs: clock.now() };
      return { ids: [], waitMs: 0 };
    },
    sent(id) {
      const sent = lateness.sent(id, clock.now());
      return () => lateness.answered(sent, clock.now());
    },
    refused: (pauseMs) => window.refused({ pauseMs, recentMs: RECENT_WINDOWS * limitMs }),
  };
}

function slowerOf(before: Slowest, last: Slowest, forMs: number): Slowest {
  return last.atMs - before.atMs > forMs || last.tookMs >= before.tookMs ? last : before;
}
