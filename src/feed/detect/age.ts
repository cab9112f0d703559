/** Some servers cut `modifiedAt` to the minute, so `:00.000Z` may stand for any moment of that minute. */

/** `unclear`: the times are equal, missing, or too coarse to decide. */
export type Age = 'newer' | 'older' | 'unclear';

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
