/** The size of the synthetic workspace. */
import type { Sizes } from './world/facts.js';
import { furtherName, type FurtherName } from './world/lists.js';

export interface SandboxSizes {
  /** @defaultValue 1000 */
  people?: number;
  /** @defaultValue a fifth of the people */
  organizations?: number;
  /** @defaultValue one and a half per person */
  memos?: number;
  /** @defaultValue one and a half per person */
  todos?: number;
  /** Rows of deal history. @defaultValue four per person */
  history?: number;
  /** Rows of people activity. @defaultValue four per person */
  activity?: number;
  /** All six lists together, in the default shares. A size that is also given for a list takes precedence. */
  records?: number;
  /**
   * Further lists: how many records by name. `{ deal: 500 }` serves `v2/deal` with the array `dealList`. A name is a plain
   * lower-case word that none of the six lists has. @defaultValue none
   */
  lists?: Readonly<Record<string, number>>;
}

const DEFAULT_PEOPLE = 1_000;
// Records per person in the default shares, the person included.
const PER_PERSON = 1 + 0.2 + 1.5 + 1.5 + 4 + 4;

/** @throws ChangefeedError CF_USAGE when a further list has a name that is taken or no plain word */
export function furtherOf({ lists = {} }: SandboxSizes): FurtherName[] {
  return Object.keys(lists).map(furtherName);
}

export function sizesOf({ records, lists = {}, ...given }: SandboxSizes): Sizes {
  const people =
    given.people ?? (records === undefined ? DEFAULT_PEOPLE : Math.max(1, Math.round(records / PER_PERSON)));
  return {
    ...lists,
    people,
    organization: given.organizations ?? Math.ceil(people / 5),
    memo: given.memos ?? Math.round(people * 1.5),
    todo: given.todos ?? Math.round(people * 1.5),
    // Both lists are about people and their deals: without people they are empty.
    history: people === 0 ? 0 : (given.history ?? people * 4),
    activity: people === 0 ? 0 : (given.activity ?? people * 4),
    // One deal for every two people. No endpoint lists them; history and counters refer to them.
    unlistedDeal: Math.ceil(people / 2),
  };
}
