/**
 * How long the changes that a page is expected to show have been waiting, in seconds of all of them together: what a request for it is worth. Changes
 * gather at an end and on a page with open records, and the next request finds them all; a named record is found by nothing else but the walk.
 * So where the budget is small, each gets its turn. Pure.
 */

/** The least that is worth a request: a list that gains a record a minute is polled every four seconds. */
export const WORTH = 2 / 15;
/** A name that is right less often is worth no request, however long it waits. */
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

/** One change that is expected, for which nothing was asked yet. @param chance that it is there */
export function expected(chance: number, ms: number): number {
  return chance < LEAST_RIGHT ? chance : chance * (1 + Math.min(LONGEST_WAIT_S, seconds(ms)));
}

function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}
