/**
 * A page in parts that one script can commit without holding up Redis. Nearly every page is one part, and is committed as a
 * whole. Of a larger one each part is committed with its events and with a checkpoint that stays in front of the page; the
 * last part moves it. After a crash in between the page is read again: a record of a committed part is found unchanged, and
 * counts once, because the parts' members are kept until the page is complete.
 */
import type { SeenRecord } from './judge-record.js';

/**
 * Measured: a page of 60,000 new records in one script held up Redis for 2.4 s, and the packing of its records held up the
 * process for longer than the sweep's lease lasts. 1,000 records of 1.6 kB take Redis 20 ms. Smaller parts cost round trips.
 */
const RECORDS_PER_PART = 1_000;

/** Of JSON text. A record's event holds it up to four times (before, after, twice in the changes). */
const CHARACTERS_PER_PART = 4 * 1024 * 1024;

/** Where the members of a part are kept among those of pages: pages count from 1, and 0 is taken (STRAYS). */
export function placeOfPart(part: number): number {
  return -part;
}

/** At least one part, which may be empty. A record is never split. */
export function inParts(records: readonly SeenRecord[], most: number = RECORDS_PER_PART): SeenRecord[][] {
  const parts: SeenRecord[][] = [];
  let part: SeenRecord[] = [];
  let characters = 0;
  for (const record of records) {
    if (part.length >= most || (part.length > 0 && characters + record.text.length > CHARACTERS_PER_PART)) {
      parts.push(part);
      part = [];
      characters = 0;
    }
    part.push(record);
    characters += record.text.length;
  }
  return [...parts, part];
}
