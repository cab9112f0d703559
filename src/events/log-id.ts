/** Places in the log: `<ms>-<sequence>`, as Redis gives them to the entries of a stream. `'0'` is before all of them. */

export const BEFORE_ALL = '0';

/** Below 0 when `a` stands earlier in the log than `b`, 0 when they are the same place. */
export function compareLogIds(a: string, b: string): number {
  const [aMs, aSeq] = partsOf(a);
  const [bMs, bSeq] = partsOf(b);
  return aMs === bMs ? aSeq - bSeq : aMs - bMs;
}

/** When the event was logged, in ms since the epoch. */
export function timeOfLogId(logId: string): number {
  return partsOf(logId)[0];
}

/** The place right before an entry: reading after it begins with that entry. */
export function placeBefore(logId: string): string {
  const [ms, sequence] = partsOf(logId);
  if (sequence > 0) return `${ms}-${sequence - 1}`;
  // Redis counts further within a millisecond, but no machine logs so much in one.
  return ms > 0 ? `${ms - 1}-${HIGHEST_SEQUENCE}` : BEFORE_ALL;
}

const HIGHEST_SEQUENCE = 4_294_967_295;

/**
 * Where to begin: `'beginning'`, a log id (that entry first), or a time in ISO 8601 (what was logged from then on).
 * Answers the place to read after; undefined for a text that is none of these.
 */
export function parseBeginning(text: string): string | undefined {
  if (text === 'beginning') return BEFORE_ALL;
  if (/^\d{1,15}-\d{1,10}$/.test(text)) return placeBefore(text);
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) || ms < 0 ? undefined : placeBefore(`${ms}-0`);
}

function partsOf(logId: string): [ms: number, sequence: number] {
  const [ms = '0', sequence = '0'] = logId.split('-');
  return [Number(ms), Number(sequence)];
}
