/**
 * Splits a page into parts that one script can commit without blocking Redis for long. Nearly every page is one part and is
 * committed as a whole. Each part of a larger page is committed with its events, and the last one moves the checkpoint. After a crash in
 * between, the page is read again, and the records of committed parts are unchanged. Those that a part created are noted, because the page may
 * no longer show them (`created` in store.ts).
 */

/**
 * Measured: a page of 60,000 new records in one script blocked Redis for 2.4 s, and packing its records blocked the process for
 * longer than the sweep's lease lasts. 1,000 records of 1.6 kB take Redis 20 ms. Smaller parts cost round trips.
 */
const RECORDS_PER_PART = 1_000;

/** Characters of JSON. A record's event contains its text up to four times (before, after, twice in the changes). */
const CHARACTERS_PER_PART = 4 * 1024 * 1024;

/** At least one part, which may be empty. A record is never split. */
export function inParts<R extends { characters: number }>(
  records: readonly R[],
  most: number = RECORDS_PER_PART,
): R[][] {
  const parts: R[][] = [];
  let part: R[] = [];
  let characters = 0;
  for (const record of records) {
    if (part.length >= most || (part.length > 0 && characters + record.characters > CHARACTERS_PER_PART)) {
      parts.push(part);
      part = [];
      characters = 0;
    }
    part.push(record);
    characters += record.characters;
  }
  return [...parts, part];
}
