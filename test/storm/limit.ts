/** Every wait of a storm has a limit: what hangs must say what it waited for, instead of running into the limit of the test. */
import { withinTime } from '../../src/kit/clock.js';

/** Far longer than any wait takes on a loaded machine, and so short that several fit into the limit of a test. */
const LIMIT_MS = 45_000;

/** The storm took longer than it may: whether a guarantee holds is not known. */
export class NotDecidedError extends Error {}

export interface Limit {
  ms?: number;
  state: () => string;
}

/**
 * @param what completes "waited … for"
 * @throws an error that says so, when the work takes longer
 */
export async function withinLimit<T>(what: string, work: Promise<T>, { ms = LIMIT_MS, state }: Limit): Promise<T> {
  const result = await withinTime(
    work.then((value) => ({ value })),
    ms,
  );
  if (result !== 'late') return result.value;
  throw new NotDecidedError(`The storm waited ${ms / 1_000} s for ${what}.\n${state()}`);
}
