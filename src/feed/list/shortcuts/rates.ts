/** Counts what is found in some time, for the pages of a list. Sums fade with a half-life of ten minutes. Pure. */
import { RecentMap } from './recent-map.js';

export interface FindRate {
  found: number;
  of: number;
}

/** The sums as they were at that time; as it is kept, in ms since the epoch. */
export interface StoredRate extends FindRate {
  atMs: number;
}

const HALF_LIFE_MS = 600_000;
/** Seven are in use. Others that the release before has stored are forgotten. */
const MOST_NAMES = 16;

export class Rates {
  readonly #rates = new RecentMap<string, StoredRate>(MOST_NAMES);

  /** @param byMs added to each time, from one clock to another */
  constructor(stored: Readonly<Record<string, StoredRate>> = {}, byMs = 0) {
    for (const [name, rate] of Object.entries(stored)) this.#rates.set(name, { ...rate, atMs: rate.atMs + byMs });
  }

  /** @param prior counts as if it had been seen before */
  rate(name: string, prior: FindRate, nowMs: number): number {
    const { found, of } = this.#now(name, nowMs);
    return (found + prior.found) / (of + prior.of);
  }

  found(name: string, nowMs: number): number {
    return this.#now(name, nowMs).found;
  }

  add(name: string, { found, of }: FindRate, nowMs: number): void {
    const now = this.#now(name, nowMs);
    this.#rates.set(name, { found: Math.max(0, now.found + found), of: now.of + of, atMs: nowMs });
  }

  stored(byMs = 0): Record<string, StoredRate> {
    return Object.fromEntries([...this.#rates].map(([name, rate]) => [name, { ...rate, atMs: rate.atMs + byMs }]));
  }

  #now(name: string, nowMs: number): FindRate {
    const { found, of, atMs } = this.#rates.get(name) ?? { found: 0, of: 0, atMs: nowMs };
    // A time in the future comes from a clock that was wrong.
    const part = 2 ** (-Math.max(0, nowMs - atMs) / HALF_LIFE_MS);
    return { found: found * part, of: of * part };
  }
}
