/**
 * When a list is swept next: at once, but once per interval; earlier for a due todo, later after failures. Pure: the
 * times are read from Redis before every decision, so a changed interval takes effect at once.
 */
import { ChangefeedError, messageOf } from '../../kit/errors.js';
import { backoffMs } from '../../kit/backoff.js';
import { isoTime } from '../../kit/clock.js';
import { knownMs } from '../../kit/stored-time.js';
import type { WalkLoad } from '../api/budget.js';
import type { ListTimes } from '../store/schedule.js';
import type { ListFailure, SweepSummary } from '../store/sweep-state.js';

export type SweepTimes = Pick<SweepSummary, 'startedAt' | 'completedAt' | 'pages'>;

/** Before a failing API is tried again, and so the time to notice a renewed token or a repaired server. */
const LONGEST_RETRY_MS = 30_000;
const FIRST_RETRY_MS = 1_000;

/** The period from start to start when no interval is set: a list of one page must not be asked for all the time. */
const LEAST_PERIOD_MS = 1_000;
/** The usual period of a list before its first complete sweep. */
const UNKNOWN_PERIOD_MS = 300_000;

export interface Pace {
  /** The shortest time from the start of one sweep to the start of the next; null: `LEAST_PERIOD_MS`. */
  intervalMs: number | null;
  /** Requests per second that walks of a background list may take at most. Absent for other lists. */
  walksPerSecond?: number;
}

export interface NextSweep extends Pace {
  /** When something else needs a sweep, such as a due todo; null when nothing does. */
  wakeMs: number | null;
  nowMs: number;
}

interface Past {
  lastSweep: SweepTimes | null;
  failure: ListFailure | null;
}

/** Ms since the epoch. A stored time in the future is none: a clock was ahead. Without a last sweep, due. */
export function nextSweepMs({ lastSweep, failure }: Past, { wakeMs, nowMs, ...pace }: NextSweep): number {
  const leastMs = leastPeriodMs(pace, lastSweep);
  if (failure !== null) {
    const longestMs = Math.max(usualPeriodMs(pace, lastSweep), LONGEST_RETRY_MS);
    const failedMs = knownMs(failure.at, nowMs);
    return failedMs === null ? nowMs : Math.min(Date.parse(failure.retryAt), failedMs + longestMs);
  }
  // A clock that steps back during a sweep leaves only its start in the future.
  const [startedMs, completedMs] = [knownMs(lastSweep?.startedAt, nowMs), knownMs(lastSweep?.completedAt, nowMs)];
  if (startedMs === null || completedMs === null) return nowMs;
  return Math.min(Math.max(startedMs + leastMs, completedMs), wakeMs ?? Infinity);
}

/** The usual time from the start of one sweep to the start of the next. */
export function usualPeriodMs(pace: Pace, lastSweep: SweepTimes | null): number {
  if (lastSweep === null) return pace.intervalMs ?? UNKNOWN_PERIOD_MS;
  return Math.max(durationMs(lastSweep), leastPeriodMs(pace, lastSweep));
}

function leastPeriodMs({ intervalMs, walksPerSecond = Infinity }: Pace, lastSweep: SweepTimes | null): number {
  return Math.max(intervalMs ?? LEAST_PERIOD_MS, (1_000 * (lastSweep?.pages ?? 0)) / walksPerSecond);
}

function durationMs({ startedAt, completedAt }: SweepTimes): number {
  return Date.parse(completedAt) - Date.parse(startedAt);
}

/** The cost and the yield of a list's walks, by its last sweep; null before the first. They decide its part of the budget. */
export function walkLoadOf(lastSweep: ListTimes['lastSweep'], pace: Pace): WalkLoad | null {
  if (lastSweep === null) return null;
  const { pages, foundByWalks = null } = lastSweep;
  return { pages, changesPerSecond: foundByWalks, isBackground: pace.walksPerSecond !== undefined };
}

/** The first sweep, taken as half done: else complete lists would be swept over and over during a long one. */
export function firstLoad(pagesSoFar: number): WalkLoad {
  return { pages: 2 * pagesSoFar, changesPerSecond: null };
}

export function failureAfter(before: ListFailure | null, error: ChangefeedError, attempt: SweepAttempt): ListFailure {
  const { nowMs, periodMs, random } = attempt;
  const cause = error.cause instanceof ChangefeedError ? error.cause : error;
  const attempts = (before?.attempts ?? 0) + 1;
  const at = isoTime(nowMs);
  const { page, resumes } = error.facts;
  // An attempt that starts at the first page costs a whole sweep, so it may wait for as long as one usually takes.
  const maxDelayMs = resumes === false ? Math.max(LONGEST_RETRY_MS, periodMs) : LONGEST_RETRY_MS;
  return {
    code: cause.code,
    message: messageOf(cause),
    page: typeof page === 'number' ? page : null,
    since: before?.since ?? at,
    at,
    attempts,
    retryAt: isoTime(nowMs + backoffMs(attempts, { delayMs: FIRST_RETRY_MS, maxDelayMs }, random)),
  };
}

export interface SweepAttempt {
  nowMs: number;
  periodMs: number;
  /** A number in [0, 1). */
  random: number;
}
