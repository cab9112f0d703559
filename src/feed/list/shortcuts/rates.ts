/** What is found in some time or trials, for the pages of a list. Sums fade with a half-life of ten minutes. Pure. */
import { RecentMap } from './recent-map.js';

export interface Rate {
  found: number;
  of: number;
}

/** The sums as they were at that time; as it is kept, in ms since the epoch. */
export interface StoredRate extends Rate {
  atMs: number;
}

const HALF_LIFE_MS = 600_000;
/** The names come from a few types of events; a limit all the same. The oldest are forgotten. */
const MOST_NAMES = 128;

/** As if five of ten had changed. With fewer, a name wrong three times is left to the walk for minutes. */
const RIGHT_AT_FIRST = { found: 5, of: 10 };

export class Rates {
  readonly #rates = new RecentMap<string, StoredRate>(MOST_NAMES);

  /** @param byMs added to each time, from one clock to another */
  constructor(stored: Readonly<Record<string, StoredRate>> = {}, byMs = 0) {
    for (const [name, rate] of Object.entries(stored)) this.#rates.set(name, { ...rate, atMs: rate.atMs + byMs });
  }

  /** @param prior counts as if it had been seen before */
  rate(name: string, prior: Rate, nowMs: number): number {
    const { found, of } = this.#now(name, nowMs);
    return (found + prior.found) / (of + prior.of);
  }

  found(name: string, nowMs: number): number {
    return this.#now(name, nowMs).found;
  }

  add(name: string, { found, of }: Rate, nowMs: number): void {
    const now = this.#now(name, nowMs);
    this.#rates.set(name, { found: Math.max(0, now.found + found), of: now.of + of, atMs: nowMs });
  }

  /** The chance that a record that these reasons name has changed. */
  rightness(reasons: ReadonlySet<string>, nowMs: number): number {
    return Math.max(0, ...[...reasons].map((one) => this.rate(`right ${one}`, this.#likeOthers(one, nowMs), nowMs)));
  }

  lookedUp(reasons: ReadonlySet<string>, hadChanged: boolean, nowMs: number): void {
    for (const one of new Set([...reasons].flatMap((reason) => [reason, typeOf(reason)])))
      this.add(`right ${one}`, { found: hadChanged ? 1 : 0, of: 1 }, nowMs);
  }

  stored(byMs = 0): Record<string, StoredRate> {
    return Object.fromEntries([...this.#rates].map(([name, rate]) => [name, { ...rate, atMs: rate.atMs + byMs }]));
  }

  /** A reason that is new is taken to be right as often as others of its type. */
  #likeOthers(reason: string, nowMs: number): Rate {
    if (typeOf(reason) === reason) return RIGHT_AT_FIRST;
    const often = this.rate(`right ${typeOf(reason)}`, RIGHT_AT_FIRST, nowMs);
    return { found: often * RIGHT_AT_FIRST.of, of: RIGHT_AT_FIRST.of };
  }

  #now(name: string, nowMs: number): Rate {
    const { found, of, atMs } = this.#rates.get(name) ?? { found: 0, of: 0, atMs: nowMs };
    // A time in the future comes from a clock that was wrong.
    const part = 2 ** (-Math.max(0, nowMs - atMs) / HALF_LIFE_MS);
    return { found: found * part, of: of * part };
  }
}

function typeOf(reason: string): string {
  return reason.split(',', 1)[0] ?? reason;
}
