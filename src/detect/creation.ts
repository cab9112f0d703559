/**
 * When new records are too many to be believed. A token of another workspace and a restored backup both show a list in which
 * nearly every record is new; each would be reported as `created`. Pure: counts in, a verdict out.
 *
 * The decision needs the whole list, events go out page by page. So a sweep that has seen suspiciously many new records
 * withholds them: they are neither stored nor reported, only counted. At the end it holds them, or walks the list again.
 * Which failure is worse: an import that waits for a person loses nothing, a flood of events cannot be taken back.
 */
import type { ListName } from '../events/lists.js';

export interface CreationRules {
  /** Held when more than this share of the records seen is new … 1 switches the guard off. @defaultValue 0.5 */
  maxShare: number;
  /** … and more than this many records. @defaultValue 100 */
  maxCount: number;
}

/**
 * An import of a few thousand into a list of as many or more passes, and any of up to 100. A small workspace that grows by more
 * than its own size at once waits for a person.
 */
export const DEFAULT_CREATIONS: CreationRules = { maxShare: 0.5, maxCount: 100 };

/** A list that had this many records or more, and of which less than this share is shown again, is a replaced one. */
const FEWEST_KNOWN = 10;
const NEXT_TO_NONE = 0.1;
/** A list that only grows has grown, however much, while so many of its rows are still there. */
const STILL_THERE = 0.9;
/** The sweep trusts a list again in mid-walk when half of what it has seen is known. */
const TRUSTED_SHARE = 0.5;

/** What a sweep has counted; kept with its checkpoint. */
export interface CreationTally {
  /** Records that were not known when this sweep first saw them. */
  fresh: number;
  /** So many of them are accepted already: by a person, or because a walk of this sweep has seen that they are no flood. */
  allowed: number;
  /** New records are withheld from here on. */
  withholds?: true;
  /** At the end of the list: what is held. */
  held?: HeldCreations;
}

export interface HeldCreations {
  /** New records withheld. */
  count: number;
  /** Of how many seen. */
  of: number;
  /** ISO 8601: the end of the walk that held them. */
  at: string;
  /** New records of this outbreak that were reported before it was noticed. */
  reported: number;
  /** Records known before that were seen again, of how many the list had. */
  known: KnownShare;
  /** Hardly any of the known records was seen again. */
  replaced: boolean;
}

export interface KnownShare {
  seen: number;
  of: number;
}

export interface CreationGuard {
  list: ListName;
  rules: CreationRules;
  /** Records that the list had before new ones were held. */
  before: number;
  /** The last complete sweep held new records, after it and those before it had reported so many; null when none are held. */
  reported: number | null;
}

/** What a sweep has seen up to and including the page to be decided. */
export interface SeenSoFar {
  tally: Pick<CreationTally, 'fresh' | 'allowed' | 'withholds'>;
  /** Records seen, each once. */
  seen: number;
  /** New records withheld so far, those of this page left out. */
  withheld: number;
  /** New records of this page. */
  freshOnPage: number;
  /** The list ends with this page. */
  ended: boolean;
}

/** `walk again`: what was withheld is no flood; the walk starts again at the first page, and reports it. */
export type CreationVerdict = 'report' | 'withhold' | 'hold' | 'walk again';

export function judgeCreations(so: SeenSoFar, guard: CreationGuard): CreationVerdict {
  const { tally, withheld, freshOnPage, ended } = so;
  const isOutbreak = guard.reported !== null && excess(so, guard) > 0;
  const trusted = withheld === 0 ? 'report' : 'walk again';
  if (guard.rules.maxShare >= 1) return trusted;
  if (ended) {
    const isHeld = isFlood(so, guard) && (withheld > 0 || freshOnPage > 0);
    return isHeld ? 'hold' : trusted;
  }
  // Else each sweep would let through as many as one may.
  if (isOutbreak) return 'withhold';
  if (tally.withholds === true) return isTrusted(so, guard) ? trusted : 'withhold';
  return isSuspect(so, guard) ? 'withhold' : 'report';
}

/** Hardly any of the known records was shown. */
export function isReplaced({ seen, of }: KnownShare): boolean {
  return of >= FEWEST_KNOWN && seen < NEXT_TO_NONE * of;
}

/** As many more may come while the list is walked again. */
export function allowanceFor(count: number): number {
  return count + Math.max(10, Math.ceil(count / 10));
}

/** With the whole list in view. */
function isFlood(so: SeenSoFar, guard: CreationGuard): boolean {
  const known = knownSeen(so, guard);
  if (excess(so, guard) <= 0) return false;
  if (isReplaced({ seen: known, of: guard.before })) return true;
  const growsOnly = guard.list === 'history' || guard.list === 'activity';
  return isTooMany(so, guard) && !(growsOnly && known >= STILL_THERE * guard.before);
}

/** In mid-walk. The first page of a replaced list must report nothing, so next to no known record is suspect at once. */
function isSuspect(so: SeenSoFar, guard: CreationGuard): boolean {
  const knowsNone = guard.before >= FEWEST_KNOWN && knownSeen(so, guard) < NEXT_TO_NONE * so.seen;
  return isTooMany(so, guard) || (knowsNone && excess(so, guard) > 0);
}

function isTrusted(so: SeenSoFar, guard: CreationGuard): boolean {
  return !isTooMany(so, guard) && so.tally.fresh <= TRUSTED_SHARE * so.seen;
}

function isTooMany(so: SeenSoFar, guard: CreationGuard): boolean {
  const { maxShare, maxCount } = guard.rules;
  return excess(so, guard) > maxCount && excess(so, guard) > maxShare * so.seen;
}

/** New records that nothing and nobody has accepted, of this sweep and of the outbreak. */
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
