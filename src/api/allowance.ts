/**
 * How much of the budget may be used after a 429. The quota is shared with clients that we do not see, so the only sign of them is a
 * refusal, and the number of requests that were accepted in the window before it (the *level*) is the best estimate of what they leave
 * to us. The curve is that of CUBIC (RFC 9438), with a plateau below the level in place of one at the level:
 *
 *     requests                         ┌──── configured
 *                                     │ rest
 *     level · · · · · · · · · · · ·╱─╯
 *              ───────────────────╯ probe
 *          ╭──        hold
 *          │ climb                       time since the refusal
 *
 * A window that is full refuses one request and goes on; it has no queue that must drain. So the cut is small, and what limits the
 * refusals is how seldom the level is probed. Pure.
 */
import type { BudgetLimits, Refusal } from './budget.js';

export interface Allowance {
  /** Most requests in any window. */
  requests: number;
  /** Most requests at once. */
  burst: number;
}

/** The part of the level that is used right after a refusal, and the part that is used while waiting to probe. */
const CUT = 0.9;
const PLATEAU = 0.95;
/** This part of the budget is always used: a server that refuses at random must not stop the feed. */
const LEAST_SHARE = 0.1;
/** From the cut to the plateau, in windows. */
const CLIMB_WINDOWS = 1;
/**
 * The probe goes a little above the level, slowly: the requests of the last window must be near what is allowed when the server refuses
 * one, or their number would not be the level.
 */
const PROBE_WINDOWS = 2;
const PROBE = { share: 1.1, requests: 2 };
/** From the end of a probe that was not refused to the whole budget: the other client is gone. */
const REST_WINDOWS = 1.5;
/** A probe costs one refusal if the other clients are still there, so it is made after this many accepted requests … */
const ANSWERS_PER_PROBE = 680;
/** … but after at most this many windows: 135 s of the quota of 10 s, so that an unused quota is noticed. */
const LONGEST_HOLD_WINDOWS = 13.5;
const SHORTEST_HOLD_WINDOWS = 3;
/** Of the whole budget a tenth may be spent at once: enough for all lists to start together. */
const BURST_SHARE = 0.1;
/** Next to other clients requests are spaced evenly: of several at once, all that exceed the quota would be refused. */
const BURST_BESIDE_OTHERS = 2;
/** … and some windows longer, until no refusal has come at the whole budget. */
const CALM_WINDOWS = 2;

/** What may be used now; the configured limits when `refusal` is null or long ago. */
export function allowanceAfter(limits: BudgetLimits, refusal: Pick<Refusal, 'level' | 'agoMs'> | null): Allowance {
  const { requests } = limits;
  const burst = Math.ceil(requests * BURST_SHARE);
  if (refusal === null) return { requests, burst };
  const windows = refusal.agoMs / (limits.perSeconds * 1_000);
  const allowed = Math.max(1, Math.min(requests, Math.floor(curve(requests, refusal.level, windows))));
  const isOver = windows > holdWindows(refusal.level) + PROBE_WINDOWS + REST_WINDOWS + CALM_WINDOWS;
  return { requests: allowed, burst: isOver ? burst : Math.min(burst, BURST_BESIDE_OTHERS) };
}

/** @param windows time since the refusal */
function curve(requests: number, level: number, windows: number): number {
  const least = requests * LEAST_SHARE;
  const known = Math.min(requests, level);
  const plateau = Math.max(least, known * PLATEAU);
  if (windows < CLIMB_WINDOWS) {
    const from = Math.max(least, known * CUT);
    return plateau - (plateau - from) * (1 - windows / CLIMB_WINDOWS) ** 3;
  }
  const probing = windows - holdWindows(known);
  const top = Math.max(plateau, known * PROBE.share, known + PROBE.requests);
  if (probing <= PROBE_WINDOWS) return plateau + (top - plateau) * Math.max(0, probing / PROBE_WINDOWS);
  const rest = Math.min(1, (probing - PROBE_WINDOWS) / REST_WINDOWS);
  return top + (requests - top) * rest ** 3;
}

function holdWindows(level: number): number {
  return Math.min(LONGEST_HOLD_WINDOWS, Math.max(SHORTEST_HOLD_WINDOWS, ANSWERS_PER_PROBE / Math.max(1, level)));
}
