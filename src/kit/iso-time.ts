/** Times as they are written: by the CRM, and by persons. A date that does not exist, such as 30 February, is none. */
import { Temporal } from 'temporal-polyfill';

const WRITTEN = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$/u;
const ZONE = /T.*(Z|[+-]\d{2}(:?\d{2})?)$/u;

/**
 * Ms since the epoch; null where it is no ISO 8601 date or time.
 * @param timeZone of a date, or a time without a zone: that of the workspace for what a person writes
 */
export function readTime(text: string, timeZone: string): number | null {
  if (!WRITTEN.test(text)) return null;
  try {
    if (ZONE.test(text)) return Temporal.Instant.from(text).epochMilliseconds;
    return Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds;
  } catch {
    return null;
  }
}

/**
 * A time that the CRM names, as a time of an event. Without a zone it is UTC (section 2 of the interface). Null where RFC 3339,
 * CloudEvents and `timestamptz` cannot all hold it: they end with the year 9999.
 */
export function eventTime(text: string | null): string | null {
  const ms = text === null ? null : readTime(text, 'UTC');
  const iso = ms === null ? '' : new Date(ms).toISOString();
  return /^\d{4}-/u.test(iso) && !iso.startsWith('0000') ? iso : null;
}

const days = new Map<string, Intl.DateTimeFormat>();

/** The day of a moment in a time zone: `2026-11-29`. @param iso a time with its zone */
export function dayIn(timeZone: string, iso: string | number): string {
  const format = days.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone });
  days.set(timeZone, format);
  return format.format(new Date(iso));
}
