/**
 * The worth of a request: how long the changes it should show wait, in seconds of all together. They gather at an end
 * and at open records for one request, but a named record is found by nothing else but the walk. Pure.
 */

/** The least that is worth a request: a list that gains a record a minute is polled every 1.7 s. */
export const WORTH = 1 / 5;
/** In changes of a known record: a row often names a changed record, and most automations start with one. */
const CHANGES_PER_ROW = 8;
/** A row that is read for the record that it names. One change makes two or three of them at once. */
const CHANGES_PER_NAMING_ROW = 1 / 2;
/** The chance that a named record has changed. */
const NAMED_RIGHTLY = 1 / 2;
const LONGEST_WAIT_S = 60;

/** Changes that come at this rate, since a request found those before. @param rate per second */
export function gathered(rate: number, ms: number): number {
  return (rate * seconds(ms) ** 2) / 2;
}

export function changesPerRow(namesOnly: boolean): number {
  return namesOnly ? CHANGES_PER_NAMING_ROW : CHANGES_PER_ROW;
}

/** The rate of changes that is worth a request after so long. @returns per second */
export function rateWorth(ms: number): number {
  return WORTH / gathered(1, ms);
}

/** How long changes gather until they are worth so much. @param rate per second @returns ms */
export function gatheringMs(rate: number, worth: number): number {
  return 1_000 * Math.sqrt(worth / gathered(rate, 1_000));
}

/** New records that are expected at an end for which nothing was asked yet. */
export function expected(records: number, ms: number): number {
  return records * (1 + Math.min(LONGEST_WAIT_S, seconds(ms)));
}

/** Changes that only a walk would find; how long they have waited is no matter. @param named records that may have changed */
export function untilWalked(named: number, walkMs: number): number {
  return named * NAMED_RIGHTLY * (1 + seconds(walkMs) / 2);
}

function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}
