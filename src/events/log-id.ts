/** Offsets in the log: `<ms>-<sequence>`, the ids of a Redis stream. `'0'` is before all entries. */
import { readTime } from '../kit/iso-time.js';

export const BEFORE_ALL = '0';

export function compareLogIds(a: string, b: string): number {
  const [aMs, aSeq] = partsOf(a);
  const [bMs, bSeq] = partsOf(b);
  return aMs === bMs ? aSeq - bSeq : aMs - bMs;
}

/** When the event was logged, in ms since the epoch. */
export function timeOfLogId(logId: string): number {
  return partsOf(logId)[0];
}

/** The offset right before an entry: reading after it begins with that entry. */
export function offsetBefore(logId: string): string {
  const [ms, sequence] = partsOf(logId);
  if (sequence > 0) return `${ms}-${sequence - 1}`;
  // Redis allows higher sequences, but no machine writes so many entries in a millisecond.
  return ms > 0 ? `${ms - 1}-${HIGHEST_SEQUENCE}` : BEFORE_ALL;
}

/** The last offset of a millisecond. */
export const offsetAt = (ms: number): string => offsetBefore(`${ms + 1}-0`);

export function idAfter(offset: string): string {
  const [ms, sequence] = partsOf(offset);
  return `${ms}-${sequence + 1}`;
}

const HIGHEST_SEQUENCE = 4_294_967_295;

/**
 * The offset to read after: `'beginning'`, a log id (that entry is the first) or an ISO 8601 date or time.
 * @param timeZone of the workspace, for a date or time without a zone. Whether the text is understood is the same in every zone.
 */
export function parseBeginning(text: string, timeZone: string): string | undefined {
  if (text === 'beginning') return BEFORE_ALL;
  if (/^\d{1,15}-\d{1,10}$/.test(text)) return offsetBefore(text);
  const ms = text < '1970' ? null : readTime(text, timeZone);
  // East of Greenwich 1970 begins before the epoch.
  return ms === null ? undefined : offsetBefore(`${Math.max(0, ms)}-0`);
}

function partsOf(logId: string): [ms: number, sequence: number] {
  const [ms = '0', sequence = '0'] = logId.split('-');
  return [Number(ms), Number(sequence)];
}
