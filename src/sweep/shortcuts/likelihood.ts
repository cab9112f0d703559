/**
 * How often a named record has indeed changed, by what named it. A new memo changes the person it is about, and a row of the history
 * may change nothing else: looking up what hardly ever changes would keep the others waiting. Holds no I/O.
 */

interface Tally {
  looked: number;
  changed: number;
}

/** Counts are halved here, so that a reason which begins to matter is noticed within as many records. */
const MOST_LOOKED = 40;
/** Reasons come from a few types of events; a limit all the same. */
const MOST_REASONS = 256;

export class Likelihood {
  readonly #tallies = new Map<string, Tally>();

  /** Between 0 and 1; a half until there is evidence. */
  of(by: string): number {
    const { looked, changed } = this.#tallies.get(by) ?? { looked: 0, changed: 0 };
    // As if two records had been looked up before, of which one had changed.
    return (changed + 1) / (looked + 2);
  }

  /** A record was looked up because of this. */
  looked(by: string, hasChanged: boolean): void {
    const before = this.#tallies.get(by) ?? { looked: 0, changed: 0 };
    if (this.#tallies.size >= MOST_REASONS && !this.#tallies.has(by)) return;
    const { looked, changed } = { looked: before.looked + 1, changed: before.changed + (hasChanged ? 1 : 0) };
    const part = looked >= MOST_LOOKED ? 0.5 : 1;
    this.#tallies.set(by, { looked: looked * part, changed: changed * part });
  }
}
