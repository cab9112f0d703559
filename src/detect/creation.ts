/**
 * The guard on new records: decides when there are too many. With a token of another workspace or after a restored backup,
 * nearly every record of a list is new, and each would be reported as `created`. Pure: counts in, a decision out.
 *
 * The decision needs the whole list, but events are emitted page by page. So a sweep that has seen too many new records withholds
 * them: they are neither stored nor reported, only counted. At the end it holds them, or it reads the list again and reports them.
 * A false alarm is the smaller failure: an import that waits for a person loses nothing, but events cannot be taken back.
 */
import { descriptorOf, type ListRef } from '../crm/lists/lists.js';

export interface CreationRules {
  /** Held when more than this share of the records seen is new … 1 switches the guard off. @defaultValue 0.5 */
  maxShare: number;
  /** … and more than this many records. @defaultValue 100 */
  maxCount: number;
}

/**
 * An import passes when it is smaller than the list or has at most 100 records. A small workspace that grows by more than its own
 * size at once waits for a person.
 */
export const DEFAULT_CREATIONS: CreationRules = { maxShare: 0.5, maxCount: 100 };

/** A list is replaced when it had at least this many records and less than this share of them is seen again. */
const FEWEST_KNOWN = 10;
const HARDLY_ANY = 0.1;
/** A list that only grows may gain any number of rows while this share of its known rows is still there. */
const STILL_THERE = 0.9;
/** In mid-sweep, new records are reported again when at least half of the records seen are known. */
const TRUSTED_SHARE = 0.5;

/** The counts of a sweep; kept with its checkpoint. */
export interface CreationTally {
  /** Records that had no stored record when this sweep first saw them. */
  fresh: number;
  /** How many of them are accepted: by a person, or because an earlier pass of this sweep found that they are not too many. */
  allowed: number;
  /** New records are withheld from now on. */
  withholds?: true;
  /** Set at the end of the list. */
  held?: HeldCreations;
}

export interface HeldCreations {
  /** New records withheld. */
  count: number;
  /** Records seen. */
  of: number;
  /** ISO 8601: the end of the sweep that held them. */
  at: string;
  /** New records that were reported before they became too many. */
  reported: number;
  /** How many of the records known before were seen again. */
  known: KnownShare;
  /** Hardly any of the records known before was seen again. */
  replaced: boolean;
}

export interface KnownShare {
  seen: number;
  of: number;
}

export interface CreationGuard {
  list: ListRef;
  rules: CreationRules;
  /** Records of the list before new ones were held. */
  before: number;
  /** New records reported before the last complete sweep held the others; null when none are held. */
  reported: number | null;
}

/** What a sweep has seen, including the page to be decided. */
export interface SeenSoFar {
  tally: Pick<CreationTally, 'fresh' | 'allowed' | 'withholds'>;
  /** Records seen, each once. */
  seen: number;
  /** New records withheld so far, without those of this page. */
  withheld: number;
  /** New records of this page. */
  freshOnPage: number;
  /** The list ends with this page. */
  ended: boolean;
}

/** `walk again`: the withheld records are not too many. The sweep reads the list again from the first page and reports them. */
export type CreationDecision = 'report' | 'withhold' | 'hold' | 'walk again';

export function decideCreations(so: SeenSoFar, guard: CreationGuard): CreationDecision {
  const { tally, withheld, freshOnPage, ended } = so;
  const isStillHeld = guard.reported !== null && excess(so, guard) > 0;
  const trusted = withheld === 0 ? 'report' : 'walk again';
  if (guard.rules.maxShare >= 1) return trusted;
  if (ended) {
    const isHeld = isTooManyAtEnd(so, guard) && (withheld > 0 || freshOnPage > 0);
    return isHeld ? 'hold' : trusted;
  }
  // Otherwise each sweep would report as many new records as the limits allow.
  if (isStillHeld) return 'withhold';
  if (tally.withholds === true) return isTrusted(so, guard) ? trusted : 'withhold';
  return isTooManySoFar(so, guard) ? 'withhold' : 'report';
}

/** Hardly any of the known records was seen. */
export function isReplaced({ seen, of }: KnownShare): boolean {
  return of >= FEWEST_KNOWN && seen < HARDLY_ANY * of;
}

/** How many new records may pass when the list is read again: some may be added in the meantime. */
export function allowanceFor(count: number): number {
  return count + Math.max(10, Math.ceil(count / 10));
}

function isTooManyAtEnd(so: SeenSoFar, guard: CreationGuard): boolean {
  const known = knownSeen(so, guard);
  if (excess(so, guard) <= 0) return false;
  if (isReplaced({ seen: known, of: guard.before })) return true;
  const { growsOnly } = descriptorOf(guard.list);
  return isTooMany(so, guard) && !(growsOnly && known >= STILL_THERE * guard.before);
}

/** The first page of a replaced list must report nothing, so it is enough that hardly any record on it is known. */
function isTooManySoFar(so: SeenSoFar, guard: CreationGuard): boolean {
  const knowsNone = guard.before >= FEWEST_KNOWN && knownSeen(so, guard) < HARDLY_ANY * so.seen;
  return isTooMany(so, guard) || (knowsNone && excess(so, guard) > 0);
}

function isTrusted(so: SeenSoFar, guard: CreationGuard): boolean {
  return !isTooMany(so, guard) && so.tally.fresh <= TRUSTED_SHARE * so.seen;
}

function isTooMany(so: SeenSoFar, guard: CreationGuard): boolean {
  const { maxShare, maxCount } = guard.rules;
  return excess(so, guard) > maxCount && excess(so, guard) > maxShare * so.seen;
}

/** New records that are not accepted: those of this sweep and those reported before. */
function excess({ tally: { fresh, allowed } }: SeenSoFar, { reported }: CreationGuard): number {
  return fresh + (reported ?? 0) - allowed;
}

/** Records seen that were known before new ones were held. */
export function knownSeen(
  { seen, tally }: { seen: number; tally: Pick<CreationTally, 'fresh'> },
  { reported }: Pick<CreationGuard, 'reported'>,
): number {
  return Math.max(0, seen - tally.fresh - (reported ?? 0));
}
