/**
 * What a request for a page is worth: how long the changes that it is expected to show wait, in seconds of all of them together. Changes gather at an
 * end and on a page with open records, and the next request finds them all; a named record is found by nothing else but the walk. So where the
 * budget is small, each gets its turn. Pure.
 */

/** The least that is worth a request: a list that gains a record a minute is polled every four seconds. */
export const WORTH = 2 / 15;
/** A name that is right less often is worth no request. */
const LEAST_RIGHT = 1 / 15;
const LONGEST_WAIT_S = 60;

/** Changes that come at this rate, since a request found those before. @param rate per second */
export function gathered(rate: number, ms: number): number {
  return (rate * seconds(ms) ** 2) / 2;
}

/** The rate at which changes that gather for so long are worth a request. */
export function rateWorth(ms: number): number {
  return (2 * WORTH) / seconds(ms) ** 2;
}

/** How long they gather until they are worth so much. @returns ms */
export function gatheringMs(rate: number, worth: number): number {
  return 1_000 * Math.sqrt((2 * worth) / rate);
}

/** New records that are expected at an end for which nothing was asked yet. */
export function expected(records: number, ms: number): number {
  return records * (1 + Math.min(LONGEST_WAIT_S, seconds(ms)));
}

export function isLikely(chance: number): boolean {
  return chance >= LEAST_RIGHT;
}

/**
 * A change that only a walk would find otherwise. How long it has waited does not matter: its request is no cheaper later.
 * @param chance that it is there
 */
export function untilWalked(chance: number, walkMs: number): number {
  return chance * (1 + seconds(walkMs) / 2);
}

function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}
