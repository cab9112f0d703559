/** How long to wait after a failed try: as the server asks, else by the rules for a full quota, else by backoff. Pure. */
import type { ChangefeedError, ErrorCode } from '../errors.js';
import { backoffMs, type BackoffOptions } from '../runtime/backoff.js';

/** No server makes us wait longer: past a minute it is better to ask again than to believe an absurd hint. */
export const MAX_WAIT_MS = 60_000;
/** A hint of nothing would turn the attempts into a burst. */
const MIN_HINT_MS = 200;
/** Added to the seconds named in a sentence: they are cut, and the server's clock is not ours. */
const SENTENCE_MARGIN_MS = 200;
/** The length of the quota's window: what the vendor advises where no hint is given. */
const QUOTA_WINDOW_MS = 10_000;
/** Waits the server asked for grow by up to this share, so that those who were told the same do not return together. */
const JITTER_SHARE = 0.2;

/** The wait that the server asked for, in ms; null when it did not. `statements`: its `reason` and `message`. */
export function hintMs(retryAfter: string | undefined, statements: readonly string[], now: number): number | null {
  return retryAfterMs(retryAfter?.trim() ?? '', now) ?? sentenceMs(statements);
}

function retryAfterMs(value: string, now: number): number | null {
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  // Date.parse takes almost anything ("-5", "8.1") for a date; an HTTP date has a time of day.
  const date = /\d\d:\d\d:\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
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
  /** What the server asked for; null when it did not. */
  hintMs: number | null;
  /** 1 after the first try. */
  attempt: number;
}

/** What a client error says about waiting. */
export function failedTry(error: ChangefeedError, attempt: number): FailedTry {
  const hint = error.facts['retryAfterMs'];
  return { code: error.code, hintMs: typeof hint === 'number' ? hint : null, attempt };
}

/** The wait that everybody who shares the quota must keep, without jitter; null when the failure asks for none. */
export function requiredWaitMs({ code, hintMs: hint, attempt }: FailedTry): number | null {
  if (hint !== null) return Math.min(MAX_WAIT_MS, Math.max(MIN_HINT_MS, hint));
  if (code !== 'CF_RATE_LIMITED') return null;
  return Math.min(MAX_WAIT_MS, QUOTA_WINDOW_MS * 2 ** Math.min(attempt - 1, 30));
}

/**
 * The wait before the next try, jittered.
 * @param random a number in [0, 1)
 */
export function waitMs(failed: FailedTry, backoff: BackoffOptions, random: number): number {
  const required = requiredWaitMs(failed);
  return required === null
    ? backoffMs(failed.attempt, backoff, random)
    : Math.round(required * (1 + JITTER_SHARE * random));
}
