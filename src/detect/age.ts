/**
 * Is an answer older than what we know? Stamps decide, as far as they can: some are cut to the minute (seen in the wild),
 * so a stamp that ends in `:00.000Z` may stand for any moment of its minute.
 */

/** `unclear`: the stamps are equal, missing, or too coarse to tell. */
export type Age = 'newer' | 'older' | 'unclear';

const MINUTE_MS = 60_000;

/** How far a replica is believed to lag behind. What was learnt within that time may still be unknown to it. */
const LAG_MS = 10_000;

/** Could a lagging replica, asked now, not know yet what was learnt then? */
export function withinLag(learntAt: string | null, now: string): boolean {
  return learntAt !== null && Date.parse(now) - Date.parse(learntAt) < LAG_MS;
}

export function ageOf(stamp: string | null, knownStamp: string | null): Age {
  const now = span(stamp);
  const known = span(knownStamp);
  // What is no time is neither before nor after another.
  if (now.from > known.from) return 'newer';
  // A stamp that may stand for a moment after the one we know does not prove an older answer.
  return now.to < known.from ? 'older' : 'unclear';
}

/** The first and the last moment that a stamp may stand for; no numbers where it is no time. */
function span(stamp: string | null): { from: number; to: number } {
  const from = Date.parse(stamp ?? '');
  return { from, to: from % MINUTE_MS === 0 ? from + MINUTE_MS - 1 : from };
}
