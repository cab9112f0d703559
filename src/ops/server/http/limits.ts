/** What one caller may use up: open connections and streams, and wrong tokens. */
import type { Clock } from '../../../kit/clock.js';
import { networkOf } from './access.js';

export interface Share {
  most: number;
  mostOfOne: number;
}

export type Places = ReturnType<typeof createPlaces>;

/** Counts what is open, with a share for each caller: a limit for all together would let one shut out the others. */
export function createPlaces(share: Share) {
  const open = new Map<string, number>();
  let all = 0;
  const count = (name: string, change: 1 | -1): void => {
    const left = (open.get(name) ?? 0) + change;
    if (left === 0) open.delete(name);
    else open.set(name, left);
    all += change;
  };
  return {
    /** @returns what gives the place back, to be called once; or the limit that is reached */
    enter(name: string, { most, mostOfOne }: Share = share): (() => void) | 'no place' | 'no place for this one' {
      if (all >= most) return 'no place';
      if ((open.get(name) ?? 0) >= mostOfOne) return 'no place for this one';
      count(name, 1);
      return () => count(name, -1);
    },
  };
}

export type Attempts = ReturnType<typeof createAttempts>;

/** Far more than a person mistypes. */
const MOST = 10;
const WINDOW_MS = 60_000;
/** Addresses that are remembered: some hundred kB at most. When there are more, the oldest is forgotten. */
const MOST_ADDRESSES = 5_000;

/**
 * Counts wrong tokens by network. A right one always passes, because behind a proxy everyone has the same address: this keeps the log and the
 * audit short. What keeps tokens from being guessed is that those that can be guessed are refused.
 */
export function createAttempts(clock: Clock) {
  const seen = new Map<string, { count: number; until: number }>();
  return {
    wrong(address: string): 'few' | 'too many' {
      const nowMs = clock.monotonic();
      const network = networkOf(address);
      const known = seen.get(network);
      const { count, until } =
        known !== undefined && known.until > nowMs ? known : { count: 0, until: nowMs + WINDOW_MS };
      if (count >= MOST) return 'too many';
      seen.delete(network);
      seen.set(network, { count: count + 1, until });
      const [oldest] = seen.keys();
      if (seen.size > MOST_ADDRESSES && oldest !== undefined) seen.delete(oldest);
      return 'few';
    },
  };
}
