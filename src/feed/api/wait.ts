/** The wait after a failed try: what the server asks for, else the rule for a used-up quota, else backoff. Pure. */
import type { ChangefeedError, ErrorCode } from '../../kit/errors.js';
import { backoffMs, retryAfterMs, type BackoffOptions } from '../../kit/backoff.js';

/** The upper limit of a wait that the server asks for: after a minute, another request costs less than a wrong hint. */
export const MAX_WAIT_MS = 60_000;
/** The lower limit: a hint of 0 would turn the attempts into a burst. */
const MIN_HINT_MS = 200;
/** Added to the seconds named in a sentence: they are rounded down, and the server's clock differs from ours. */
const SENTENCE_MARGIN_MS = 200;
/** The length of the quota's window: the wait that the vendor recommends when the answer names none. */
const QUOTA_WINDOW_MS = 10_000;
/** Waits that the server asked for grow by up to this share: clients with one hint must not return together. */
const JITTER_SHARE = 0.2;

/** The wait that the server asked for, in ms; null when it did not. `statements`: its `reason` and `message`. */
export function hintMs(retryAfter: string | undefined, statements: readonly string[], now: number): number | null {
  return retryAfterMs(retryAfter, now) ?? sentenceMs(statements);
}

function sentenceMs(statements: readonly string[]): number | null {
  for (const statement of statements) {
    const seconds = /(\d+(?:\.\d+)?)\s*초/.exec(statement)?.[1];
    if (seconds !== undefined) return Math.round(Number(seconds) * 1_000) + SENTENCE_MARGIN_MS;
  }
  return null;
}

export interface FailedTry {
  code: ErrorCode;
  /** The wait that the server asked for; null when it did not. */
  hintMs: number | null;
  /** 1 after the first try. */
  attempt: number;
}

export function failedTry(error: ChangefeedError, attempt: number): FailedTry {
  const hint = error.facts['retryAfterMs'];
  return { code: error.code, hintMs: typeof hint === 'number' ? hint : null, attempt };
}

/** The wait for every process that shares the quota, without jitter; null when the failure requires none. */
export function requiredWaitMs({ code, hintMs: hint, attempt }: FailedTry): number | null {
  if (hint !== null) return Math.min(MAX_WAIT_MS, Math.max(MIN_HINT_MS, hint));
  if (code !== 'CF_RATE_LIMITED') return null;
  return Math.min(MAX_WAIT_MS, QUOTA_WINDOW_MS * 2 ** Math.min(attempt - 1, 30));
}

/** @param random a number in [0, 1), for jitter */
export function waitMs(failed: FailedTry, backoff: BackoffOptions, random: number): number {
  const required = requiredWaitMs(failed);
  return required === null
    ? backoffMs(failed.attempt, backoff, random)
    : Math.round(required * (1 + JITTER_SHARE * random));
}
