/**
 * Random numbers as a function of the seed and the record, independent of the order in which records are read. This makes it
 * possible to derive a million records on demand instead of keeping them in memory.
 */

/** 32 bits from any numbers (murmur3's mixing). */
export function hash32(...parts: readonly number[]): number {
  let h = 0x9747b28c;
  for (const part of parts) {
    let k = Math.imul(part | 0, 0xcc9e2d51);
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
    h ^= k;
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  }
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Random numbers that depend only on `parts` and the order of calls. */
export function dice(...parts: readonly number[]): Dice {
  return new Dice(hash32(...parts));
}

/** The random numbers of one record: each call gives the next. */
// A class, not closures: a walk of a large list makes millions of them.
export class Dice {
  /** A Weyl sequence. */
  #state: number;

  constructor(start: number) {
    this.#state = start | 0;
  }

  /** An integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0];
  }

  /** A number in [0, 1): one step of murmur3's finaliser per call. */
  fraction(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let h = Math.imul(this.#state ^ (this.#state >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return ((h ^ (h >>> 16)) >>> 0) / 0x1_0000_0000;
  }
}
