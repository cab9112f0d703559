/** What deriving a record from the seed needs: sizes, dice, and the time at which each record was born. */
import type { Directory } from './directory.js';
import { numberOf, type Kind, type Sizes } from './facts.js';
import { dice, hash32, type Dice } from './random.js';

/** The seed's records were written in these two years: fixed, so that the same seed gives the same bytes on any day. */
const FROM = Date.UTC(2024, 0, 2);
const UNTIL = Date.UTC(2026, 0, 1);

export interface BaseContext {
  readonly seed: number;
  readonly sizes: Sizes;
  readonly directory: Directory;
  /** Dice of one record; `salt` gives a second set. */
  dice(kind: Kind, index: number, salt?: number): Dice;
  /** Grows with the index: the order of a list is that of creation. */
  bornAt(kind: Kind, index: number): number;
  /** A time of last change for something born at `bornAt`. */
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
