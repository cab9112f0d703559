/** Counts wrong tokens by address. A right one always passes: behind a proxy everyone has the same address. */
import type { Clock } from '../../../kit/clock.js';

export type Attempts = ReturnType<typeof createAttempts>;

/** Far more than a person mistypes. */
const MOST = 10;
const WINDOW_MS = 60_000;
/** Addresses that are remembered: some hundred kB at most. When there are more, the oldest is forgotten. */
const MOST_ADDRESSES = 5_000;

export function createAttempts(clock: Pick<Clock, 'monotonic'>) {
  const seen = new Map<string, { count: number; until: number }>();
  return {
    wrong(address: string): 'few' | 'too many' {
      const nowMs = clock.monotonic();
      const known = seen.get(address);
      const { count, until } =
        known !== undefined && known.until > nowMs ? known : { count: 0, until: nowMs + WINDOW_MS };
      if (count >= MOST) return 'too many';
      seen.delete(address);
      seen.set(address, { count: count + 1, until });
      const [oldest] = seen.keys();
      if (seen.size > MOST_ADDRESSES && oldest !== undefined) seen.delete(oldest);
      return 'few';
    },
  };
}
