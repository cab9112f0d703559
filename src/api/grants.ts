/**
 * How a process gets grants from the window that all processes share: how many requests are allowed after a 429 (`allowance.ts`), and how
 * long the window must be so that the server never sees more.
 */
import type { Clock } from '../runtime/clock.js';
import { allowanceAfter } from './allowance.js';
import type { BudgetLimits, BudgetWindow, Refusal } from './budget.js';

export interface Grants {
  /** Asks for so many grants: how many there are now, and how long to wait before the next is free. */
  ask(wanted: number): Promise<{ requests: number; waitMs: number }>;
  /** After a 429. */
  refused(pauseMs: number): Promise<void>;
}

export interface GrantsOptions {
  window: BudgetWindow;
  limits: BudgetLimits;
  clock: Clock;
}

/**
 * The window is longer than the server's by this share. Requests are counted when they are granted, and the server counts them when they
 * arrive: a slow one and a fast one behind it are closer together there.
 */
const MARGIN = 0.01;
/** For so many windows, a refusal says how much the other clients leave. */
const RECENT_WINDOWS = 20;

export function createGrants({ window, limits, clock }: GrantsOptions): Grants {
  const limitMs = limits.perSeconds * 1_000;
  const windowMs = Math.ceil(limitMs * (1 + MARGIN));
  let refusal: (Refusal & { seenAtMs: number }) | null = null;

  return {
    async ask(wanted) {
      const known = refusal && { level: refusal.level, agoMs: refusal.agoMs + clock.now() - refusal.seenAtMs };
      const { requests: allowed, burst } = allowanceAfter(limits, known);
      const answer = await window.take({ wanted, allowed, burst, windowMs, refusal: refusal?.id ?? null });
      if (answer.outcome === 'granted') return answer;
      refusal = answer.refusal && { ...answer.refusal, seenAtMs: clock.now() };
      return { requests: 0, waitMs: 0 };
    },
    refused: (pauseMs) => window.refused({ pauseMs, recentMs: RECENT_WINDOWS * limitMs }),
  };
}
