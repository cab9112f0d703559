/** The context to derive a record from the seed: sizes, random numbers, and the record's time of creation. */
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
      const size = sizes[kind] ?? 0;
      if (index >= size) return start + index;
      const fraction = hash32(seed, numberOf(kind), index, 99) / 0x1_0000_0000;
      const span = RECENT.has(kind) ? DONE_WITHIN_MS : CREATED_WITHIN_MS;
      return start - span + Math.floor(((index + fraction) / size) * span);
    },
    later: (bornAt, roll) => (roll.chance(0.4) ? trailing(bornAt, roll) : bornAt + 1 + roll.below(start - bornAt)),
  };
}

/** The context of a record that is created now, not at its place among the initial ones. */
export function bornAtOnce(context: BaseContext, at: number): BaseContext {
  return { ...context, bornAt: () => at, later: trailing };
}

/** The change timestamp of a record is some ms after the change, as in real answers. */
export const trailing = (at: number, roll: Dice): number => at + 1 + roll.below(70);
