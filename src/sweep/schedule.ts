/**
 * Decides when a list is swept next. Pure: the times are read from Redis before every decision. So no schedule can be lost, and a
 * changed interval takes effect at once.
 */
import { ChangefeedError, messageOf } from '../errors.js';
import type { ListName } from '../crm/lists/lists.js';
import { backoffMs } from '../runtime/backoff.js';
import { isoTime } from '../runtime/clock.js';

/** Why the last attempts to sweep a list failed. Kept until a sweep of the list is complete. */
export interface ListFailure {
  /** The code of the cause: `CF_UNAUTHORISED`, `CF_UNAVAILABLE` … */
  code: string;
  /** What failed, where, and what to do. No record contents, no tokens. */
  message: string;
  /** The page that could not be read; null where the failure is not about a page. */
  page: number | null;
  /** ISO 8601: the first failure since the last complete sweep. */
  since: string;
  /** ISO 8601: the last one. */
  at: string;
  /** Failed attempts in a row. */
  attempts: number;
  /** ISO 8601: no attempt before this time. */
  retryAt: string;
}

export interface ListTimes {
  /** ISO 8601: start and end of the last complete sweep; null before the first. */
  lastSweep: { startedAt: string; completedAt: string } | null;
  /** Null when the last attempt was complete. */
  failure: ListFailure | null;
}

/** The times of one workspace's lists, and its last failures. */
export interface ScheduleStore {
  times(list: ListName): Promise<ListTimes>;
  noteFailure(list: ListName, failure: ListFailure): Promise<void>;
  /** Returns the failure that is over; null when there was none. */
  clearFailure(list: ListName): Promise<ListFailure | null>;
}

/** The longest wait before a failing API is tried again, and so the time to notice a renewed token or a repaired server. */
const LONGEST_RETRY_MS = 30_000;
const FIRST_RETRY_MS = 1_000;

export interface NextSweep {
  /** From the start of one sweep to the start of the next. */
  intervalMs: number;
  /** When something else needs a sweep, such as a due todo; null when nothing does. */
  wakeMs: number | null;
  nowMs: number;
}

/** Ms since the epoch. At most one interval from now, so that a wrong clock in another process delays no sweep for long. */
export function nextSweepMs({ lastSweep, failure }: ListTimes, { intervalMs, wakeMs, nowMs }: NextSweep): number {
  if (failure !== null) return Math.min(Date.parse(failure.retryAt), nowMs + Math.max(intervalMs, LONGEST_RETRY_MS));
  if (lastSweep === null) return nowMs;
  return Math.min(Date.parse(lastSweep.startedAt) + intervalMs, wakeMs ?? Infinity, nowMs + intervalMs);
}

/** The failure of a list after one more failed attempt. */
export function failureAfter(before: ListFailure | null, error: ChangefeedError, attempt: Attempt): ListFailure {
  const { nowMs, intervalMs, random } = attempt;
  const cause = error.cause instanceof ChangefeedError ? error.cause : error;
  const attempts = (before?.attempts ?? 0) + 1;
  const at = isoTime(nowMs);
  const { page, resumes } = error.facts;
  // An attempt that starts at the first page costs a whole sweep, so it may wait for a whole interval.
  const maxDelayMs = resumes === false ? Math.max(LONGEST_RETRY_MS, intervalMs) : LONGEST_RETRY_MS;
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

export interface Attempt {
  nowMs: number;
  intervalMs: number;
  /** A number in [0, 1). */
  random: number;
}
