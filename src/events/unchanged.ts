/** What has not happened for a time: which events a subscription with `unchanged` gets, and when one becomes true. Pure. */
import { Temporal } from 'temporal-polyfill';
import type { ListName } from '../crm/lists/lists.js';
import { durationText, parseDuration } from '../kit/duration.js';
import type { Unchanged } from './types.js';

/** What has not changed, and for how long. */
export interface Stretch {
  /** A field of the record; null: the record, by people and integrations. */
  readonly field: string | null;
  /** The lists in which nothing refers to the record; empty: it is about the record itself. */
  readonly related: readonly ListName[];
  readonly forMs: number;
  /** `working`: Monday to Friday. */
  readonly days: 'calendar' | 'working';
}

const DAY_MS = 86_400_000;
const SATURDAY = 6;
const MOMENT = { milliseconds: 1 };

/** The stretch that an event is about. */
export function stretchOf({ field, related, days, for: length }: Unchanged): Stretch {
  return { field, related, days, forMs: parseDuration(length) ?? 0 };
}

/** `14d`, `단계 10d working`, `memo, todo 30d`. */
export function stretchText({ field, related, forMs, days }: Stretch): string {
  const what = field ?? related.join(', ');
  return [what, durationText(forMs), days === 'working' ? days : ''].filter((word) => word !== '').join(' ');
}

/** The same for two subscriptions that ask the same. */
export function stretchKey({ field, related, forMs, days }: Stretch): string {
  return JSON.stringify([field?.normalize('NFC') ?? null, [...related].sort(), forMs, days]);
}

/** What is followed for it: stretches of other lengths share it. */
export function followedKey({ field, related }: Pick<Stretch, 'field' | 'related'>): string {
  return JSON.stringify([field?.normalize('NFC') ?? null, [...related].sort()]);
}

/** When it has been unchanged for so long, if it changed at `sinceMs` last. It never falls with a later change. */
export function dueAfter({ forMs, days }: Stretch, sinceMs: number, timeZone: string): number {
  if (days === 'calendar') return sinceMs + forMs;
  const since = zoned(sinceMs, timeZone);
  const begin = isWeekend(since) ? mondayAfter(since) : since;
  return stepDays(begin, Math.round(forMs / DAY_MS), 1).epochMilliseconds;
}

/** The latest change after which it is due by `nowMs`. */
export function latestDue({ forMs, days }: Stretch, nowMs: number, timeZone: string): number {
  if (days === 'calendar') return nowMs - forMs;
  const now = zoned(nowMs, timeZone);
  // Saturday and Sunday add nothing to Friday.
  const end = isWeekend(now)
    ? now
        .subtract({ days: now.dayOfWeek - SATURDAY })
        .startOfDay()
        .subtract(MOMENT)
    : now;
  return stepDays(end, Math.round(forMs / DAY_MS), -1).epochMilliseconds;
}

function zoned(ms: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
}

const isWeekend = ({ dayOfWeek }: Temporal.ZonedDateTime): boolean => dayOfWeek >= SATURDAY;

function mondayAfter(at: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  return at.add({ days: 8 - at.dayOfWeek }).startOfDay();
}

/** Whole weeks at once, and the rest day by day. */
function stepDays(from: Temporal.ZonedDateTime, count: number, sign: 1 | -1): Temporal.ZonedDateTime {
  let at = from.add({ days: sign * 7 * Math.floor(count / 5) });
  for (let left = count % 5; left > 0; left -= isWeekend(at) ? 0 : 1) at = at.add({ days: sign });
  return at;
}
