/** What is needed to derive an initial record from the seed: sizes, random numbers, and the record's time of creation. */
import type { Directory } from './directory.js';
import { numberOf, type Kind, type Sizes } from './facts.js';
import { dice, hash32, type Dice } from './random.js';

const DAY_MS = 86_400_000;
/** Contacts and deals were created in the two years before the start, what people do with them in the last 60 days: a team's open work is recent. */
const CREATED_WITHIN_MS = 730 * DAY_MS;
const DONE_WITHIN_MS = 60 * DAY_MS;
const RECENT: ReadonlySet<Kind> = new Set<Kind>(['memo', 'todo', 'activity']);

export interface BaseContext {
  readonly seed: number;
  /** The initial records end here, ms. */
  readonly start: number;
  readonly sizes: Sizes;
  readonly directory: Directory;
  /** The random numbers of one record; another `salt` gives others. */
  dice(kind: Kind, index: number, salt?: number): Dice;
  /** Grows with the index: lists are in order of creation. */
  bornAt(kind: Kind, index: number): number;
  /** A time of last change for a record created at `bornAt`. */
  later(bornAt: number, roll: Dice): number;
}

export function baseContext(
  { seed, sizes, start }: Pick<BaseContext, 'seed' | 'sizes' | 'start'>,
  directory: Directory,
): BaseContext {
  return {
    seed,
    start,
    sizes,
    directory,
    dice: (kind, index, salt = 0) => dice(seed, numberOf(kind), index, salt),
    bornAt: (kind, index) => {
      const fraction = hash32(seed, numberOf(kind), index, 99) / 0x1_0000_0000;
      const span = RECENT.has(kind) ? DONE_WITHIN_MS : CREATED_WITHIN_MS;
      return start - span + Math.floor(((index + fraction) / (sizes[kind] ?? 1)) * span);
    },
    later: (bornAt, roll) => bornAt + 1 + (roll.chance(0.4) ? roll.below(70) : roll.below(Math.max(1, start - bornAt))),
  };
}
