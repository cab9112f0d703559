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

function partsOf(logId: string): [ms: number, sequence: number] {
  const [ms = '0', sequence = '0'] = logId.split('-');
  return [Number(ms), Number(sequence)];
}
