/** Limits how often an address may send a wrong token. */
import type { Clock } from '../../runtime/clock.js';

export interface Attempts {
  /** Counts a wrong token. */
  take(address: string): void;
  /** Whether the address has sent too many. */
  isSpent(address: string): boolean;
}

/** Far more than a person mistypes, far fewer than guessing needs. */
const MOST = 10;
const WINDOW_MS = 60_000;
/** Addresses that are remembered: some hundred kB at most. When there are more, the oldest is forgotten. */
const MOST_ADDRESSES = 5_000;

export function createAttempts(clock: Pick<Clock, 'now'>): Attempts {
  const seen = new Map<string, { count: number; until: number }>();
  const current = (address: string): { count: number; until: number } => {
    const known = seen.get(address);
    return known !== undefined && known.until > clock.now() ? known : { count: 0, until: clock.now() + WINDOW_MS };
  };
  return {
    take(address) {
      const { count, until } = current(address);
      seen.delete(address);
      seen.set(address, { count: count + 1, until });
      const [oldest] = seen.keys();
      if (seen.size > MOST_ADDRESSES && oldest !== undefined) seen.delete(oldest);
    },
    isSpent: (address) => current(address).count >= MOST,
  };
}
