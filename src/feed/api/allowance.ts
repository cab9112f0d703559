/** Below what was accepted before a 429 (the *level*), as unseen clients use the quota too, and up again. Pure. */
import type { BudgetLimits } from './budget.js';

export interface Allowance {
  requests: number;
  burst: number;
}

/** The part of the level used right after a refusal. A full window has no queue to drain, so a small cut is enough. */
const CUT = 0.9;
/** Growth per window. Each climb back costs a refusal while the other clients are there: a slow one costs fewer. */
const CLIMB = 1.03;
/** This part of the budget is always used: a server that refuses at random must not stop the feed. */
const LEAST_SHARE = 0.1;
/** A tenth of the whole budget may be spent at once: enough for all lists to start together. */
const BURST_SHARE = 0.1;
/** Next to other clients requests are spaced evenly: of several at once, all that exceed the quota would be refused. */
const BURST_BESIDE_OTHERS = 2;

/** The budget that may be used now; the configured limits when `refusal` is null or long ago. */
export function allowanceAfter(limits: BudgetLimits, refusal: { level: number; agoMs: number } | null): Allowance {
  const { requests } = limits;
  const burst = Math.ceil(requests * BURST_SHARE);
  if (refusal === null) return { requests, burst };
  const windows = refusal.agoMs / (limits.perSeconds * 1_000);
  const atRefusal = Math.max(requests * LEAST_SHARE, Math.min(requests, refusal.level) * CUT);
  const allowed = Math.floor(Math.min(requests, atRefusal * CLIMB ** windows));
  if (allowed >= requests) return { requests, burst };
  return { requests: Math.max(1, allowed), burst: Math.min(burst, BURST_BESIDE_OTHERS) };
}
