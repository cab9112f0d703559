/** When digests and reports are due, in the time zone of the workspace. Pure. */
import { Temporal } from 'temporal-polyfill';
import type { Schedule } from './handlers/handler.js';

/** The window of `mostPerMinute`. A second more than a minute: one message may take longer to arrive than another. */
export const ALLOWANCE_MS = 61_000;

type Zoned = Temporal.ZonedDateTime;

/** The first moment after this time, ms; never this time or an earlier one. A time of day that does not exist, as a clock is put forward, is an hour later. */
export function nextMoment(schedule: Schedule, afterMs: number, timeZone: string): number {
  let from = zoned(afterMs, timeZone);
  for (;;) {
    const moment = afterQuietHours(nextOf(schedule, from), schedule);
    if (schedule.days.includes(moment.dayOfWeek)) return moment.epochMilliseconds;
    from = moment.add({ days: 1 }).startOfDay().subtract({ milliseconds: 1 });
  }
}

/** The last moment before this time, of a schedule with a time of day; ms. */
export function momentBefore(schedule: Schedule, beforeMs: number, timeZone: string): number {
  for (let days = 0; ; days += 1) {
    const from = zoned(beforeMs, timeZone).subtract({ days }).startOfDay().subtract({ milliseconds: 1 });
    const moment = nextMoment(schedule, from.epochMilliseconds, timeZone);
    if (moment < beforeMs) return moment;
  }
}

/** The moment at which a digest has what was logged at this time, and the one before, from which on it counts; ms. */
export function periodOf(schedule: Schedule, loggedMs: number, timeZone: string): { afterMs: number; atMs: number } {
  const atMs = nextMoment(schedule, loggedMs - 1, timeZone);
  let afterMs = momentBefore(schedule, atMs, timeZone);
  for (let next = afterMs; next < atMs; next = nextMoment(schedule, next, timeZone)) afterMs = next;
  return { afterMs, atMs };
}

function nextOf({ when }: Schedule, from: Zoned): Zoned {
  const today = from.startOfDay();
  const tomorrow = today.add({ days: 1 }).startOfDay();
  if ('at' in when) {
    const moment = at(today, when.at);
    return isAfter(moment, from) ? moment : at(tomorrow, when.at);
  }
  // Counted from midnight, so every process comes to the same moments, also after a restart.
  const passedMs = from.epochMilliseconds - today.epochMilliseconds;
  const milliseconds = (Math.floor(passedMs / when.everyMs) + 1) * when.everyMs;
  const moment = today.add({ milliseconds });
  return isAfter(tomorrow, moment) ? moment : tomorrow;
}

function afterQuietHours(moment: Zoned, { quiet }: Schedule): Zoned {
  if (quiet === undefined) return moment;
  const { from, to } = quiet;
  const time = moment.toPlainTime().toString().slice(0, 5);
  const spansMidnight = from > to;
  const isQuiet = spansMidnight ? time >= from || time < to : time >= from && time < to;
  if (!isQuiet) return moment;
  const day = spansMidnight && time >= from ? moment.add({ days: 1 }) : moment;
  const end = at(day, to);
  // In the hour that comes twice, the first of two equal times may have passed.
  return isAfter(end, moment) ? end : at(day, to, 'later');
}

/** Of two equal times of a day on which a clock is put back, the first one unless it says otherwise. */
function at(day: Zoned, plainTime: string, which: 'earlier' | 'later' = 'earlier'): Zoned {
  const local = day.toPlainDate().toPlainDateTime(Temporal.PlainTime.from(plainTime));
  return local.toZonedDateTime(day.timeZoneId, { disambiguation: which === 'later' ? which : 'compatible' });
}

function isAfter(a: Zoned, b: Zoned): boolean {
  return a.epochMilliseconds > b.epochMilliseconds;
}

function zoned(ms: number, timeZone: string): Zoned {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
}
