/** What is needed to derive an initial record from the seed: sizes, random numbers, and the record's time of creation. */
import type { Directory } from './directory.js';
import { numberOf, type Kind, type Sizes } from './facts.js';
import { dice, hash32, type Dice } from './random.js';

/** The initial records are from these two years. The dates are fixed, so that a seed gives the same bytes on any day. */
const FROM = Date.UTC(2024, 0, 2);
const UNTIL = Date.UTC(2026, 0, 1);

export interface BaseContext {
  readonly seed: number;
  readonly sizes: Sizes;
  readonly directory: Directory;
  /** The random numbers of one record; another `salt` gives others. */
  dice(kind: Kind, index: number, salt?: number): Dice;
  /** Grows with the index: lists are in order of creation. */
  bornAt(kind: Kind, index: number): number;
  /** A time of last change for a record created at `bornAt`. */
  later(bornAt: number, roll: Dice): number;
}

export function baseContext(seed: number, sizes: Sizes, directory: Directory): BaseContext {
  return {
    seed,
    sizes,
    directory,
    dice: (kind, index, salt = 0) => dice(seed, numberOf(kind), index, salt),
    bornAt: (kind, index) => {
      const fraction = hash32(seed, numberOf(kind), index, 99) / 0x1_0000_0000;
      return FROM + Math.floor(((index + fraction) / (sizes[kind] ?? 1)) * (UNTIL - FROM));
    },
    later: (bornAt, roll) => bornAt + 1 + (roll.chance(0.4) ? roll.below(70) : roll.below(Math.max(1, UNTIL - bornAt))),
  };
}
