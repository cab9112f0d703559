/**
 * Which stored records are younger than an answer. The next walk compares them again.
 *
 * 1. A younger decision wins: the record was decided at or after the moment at which the answer was asked for.
 * 2. An older answer waits: its time of change is older than the stored one (for a deleted record: not newer), decided
 *    less than ten minutes ago. After that the answer is believed: someone may have set the time back. A stored time of
 *    change that was in the future when it was stored proves nothing, as where a time zone is missing.
 */
import type { UncheckedRecord } from '../../crm/record.js';
import { isYounger, SKEW_MS } from '../../kit/stored-time.js';
import type { Observation } from './build-event.js';
import type { Baseline } from './detect.js';
import { modifiedAtOf } from './fields.js';
import type { Rules } from './rules.js';
import { decidedAt, storedModifiedAt, type StoredRecord } from './stored-record.js';

/** `unclear`: the times are equal, missing, or too coarse to decide. */
export type Age = 'newer' | 'older' | 'unclear';

/** Replicas lag for seconds. A record whose time was really set back waits for so long. */
const OLDER_WAITS_MS = 600_000;

export interface AnswerTime {
  rules: Rules;
  baseline: Baseline | null;
  observation: Observation;
  /** When the answer was asked for; null when it is certainly younger than every stored record. */
  askedAtMs: number | null;
}

export function isLeftAlone(stored: StoredRecord, record: UncheckedRecord, answer: AnswerTime): boolean {
  const nowMs = Date.parse(answer.observation.observedAt);
  const isJustDecided = isYounger(decidedAt(stored), nowMs, OLDER_WAITS_MS);
  return isDecidedSince(stored, answer) || (isJustDecided && isOlder(stored, record, answer));
}

/** The answer comes from a lagging replica, or its cursor belongs to an old snapshot. */
export function isOutdated(stored: StoredRecord, record: UncheckedRecord, answer: AnswerTime): boolean {
  return stored.gone === undefined && isOlder(stored, record, answer) && !isDecidedSince(stored, answer);
}

function isDecidedSince(stored: StoredRecord, { askedAtMs, observation: { observedAt: now } }: AnswerTime): boolean {
  const at = decidedAt(stored);
  return askedAtMs !== null && Date.parse(at ?? '') >= askedAtMs && isYounger(at, Date.parse(now), Infinity);
}

function isOlder(stored: StoredRecord, record: UncheckedRecord, { rules: { list }, baseline }: AnswerTime): boolean {
  const [seen, storedTime] = [modifiedAtOf(record, list), storedModifiedAt(stored, list)];
  const wasAhead = Date.parse(storedTime ?? '') > Date.parse(decidedAt(stored) ?? '') + SKEW_MS;
  if (wasAhead) return stored.gone !== undefined && seen === storedTime;
  const age = ageOf(seen, storedTime);
  if (stored.gone !== undefined) return age !== 'newer';
  // A baseline takes the list as it is, for instance that of a restored backup.
  return age === 'older' && baseline === null;
}

/** Some servers cut `modifiedAt` to the minute, so `:00.000Z` may stand for any moment of that minute. */
const MINUTE_MS = 60_000;

export function ageOf(modifiedAt: string | null, storedModifiedAt: string | null): Age {
  const seen = span(modifiedAt);
  const stored = span(storedModifiedAt);
  // Comparisons with NaN are false, so a text that is no time is neither newer nor older.
  if (seen.from > stored.from) return 'newer';
  // Where the cut time may stand for a moment after the stored one, the answer is not proven to be older.
  return seen.to < stored.from ? 'older' : 'unclear';
}

/** The first and the last moment that a time may stand for. NaN where the text is no time. */
export function span(time: string | null): { from: number; to: number } {
  const from = Date.parse(time ?? '');
  return { from, to: from % MINUTE_MS === 0 ? from + MINUTE_MS - 1 : from };
}
