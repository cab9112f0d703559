/** An epoch begins on each other Redis server: the last sequence before is unknown, so later ones are higher. */

/** More events than any record has in a second, the shortest epoch. Sequences stay below 2^53 until the year 2242. */
const STEP = 2 ** 20;

/** Above everything given out before, so that the highest sequence of a record always wins. */
export function firstSequenceOf(epoch: number): number {
  return epoch * STEP;
}

export function epochOfSequence(sequence: number): number {
  return Math.floor(sequence / STEP);
}

export function nextSequence(last: number, { epoch = 0 }: { epoch?: number }): number {
  return Math.max(last + 1, firstSequenceOf(epoch));
}

/** The time of day in seconds: Redis may have forgotten later epochs, and no process may know them. */
export function epochAfter(last: number, nowMs: number): number {
  return Math.max(last + 1, Math.floor(nowMs / 1_000));
}
