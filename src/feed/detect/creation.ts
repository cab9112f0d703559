/** Guards against too many new records: with another workspace's token nearly all is new. An import can wait, events cannot be taken back. Pure. */
import { descriptorOf, type ListRef } from '../../crm/lists/lists.js';

export interface CreationRules {
  /** Held when more than this share of the records seen is new … 1 switches the guard off. @defaultValue 0.5 */
  maxShare: number;
  /** … and more than this many records. @defaultValue 100 */
  maxCount: number;
}

/** An import passes when smaller than the list or at most 100 records. A workspace that outgrows itself waits. */
export const DEFAULT_CREATIONS: CreationRules = { maxShare: 0.5, maxCount: 100 };

/** A list is replaced when it had at least this many records and less than this share of them is seen again. */
const FEWEST_KNOWN = 10;
const HARDLY_ANY = 0.1;
/** A list that only grows may gain any number of rows while this share of its known rows is still there. */
const STILL_THERE = 0.9;

export interface CreationGuard {
  list: ListRef;
  rules: CreationRules;
  /** Records of the list before new ones were held. */
  before: number;
}

export interface CreationCounts {
  seen: number;
  /** New since the last complete sweep, by walks and shortcuts; including those reported before it held the others. */
  fresh: number;
  /** New ones that may pass: a person has accepted them, or a survey has found that they are not too many. */
  allowed: number;
}

export interface KnownShare {
  seen: number;
  of: number;
}

/** The new records that a person has let pass; with `ours`, of this list only. */
interface Passes {
  allowed: number;
  ours?: true;
}

/** More may be new than the guard allows, or another list is shown. Asked with each page that shows new records. */
export function isSuspicious(
  { fresh, isStrange }: { fresh: number; isStrange: boolean },
  { before, rules: { maxShare, maxCount } }: CreationGuard,
  { allowed, ours }: Passes,
): boolean {
  const excess = fresh - allowed;
  if (maxShare >= 1) return false;
  if (excess <= 0) return isStrange && ours === true;
  return isStrange || (excess > maxCount && excess > maxShare * before);
}

/** The first page of a replaced list must report nothing, so it is enough that hardly any record so far is known. */
export function isStrange(shown: { seen: number; known: number }, guard: CreationGuard): boolean {
  return guard.before >= FEWEST_KNOWN && shown.known < HARDLY_ANY * shown.seen;
}

/** In mid-survey: half of the records are known, so the new ones come first, and the rest need not be read. */
export function isCleared(counts: CreationCounts, guard: CreationGuard): boolean {
  return !isTooMany(counts, guard) && knownSeen(counts) >= counts.seen / 2;
}

export function isHeld(counts: CreationCounts, guard: CreationGuard, { ours }: Pick<Passes, 'ours'> = {}): boolean {
  const seenAgain = knownSeen(counts);
  if (guard.rules.maxShare >= 1 || (excess(counts) <= 0 && ours !== true)) return false;
  if (isReplaced({ seen: seenAgain, of: guard.before })) return true;
  if (excess(counts) <= 0) return false;
  const { growsOnly } = descriptorOf(guard.list);
  return isTooMany(counts, guard) && !(growsOnly && seenAgain >= STILL_THERE * guard.before);
}

/** Hardly any of the known records was seen. */
export function isReplaced({ seen, of }: KnownShare): boolean {
  return of >= FEWEST_KNOWN && seen < HARDLY_ANY * of;
}

/** How many new records may pass when the list is read again: some may be added in the meantime. */
export function allowanceFor(count: number): number {
  return count + Math.max(10, Math.ceil(count / 10));
}

function isTooMany(counts: CreationCounts, { rules: { maxShare, maxCount } }: CreationGuard): boolean {
  return excess(counts) > maxCount && excess(counts) > maxShare * counts.seen;
}

function excess({ fresh, allowed }: CreationCounts): number {
  return fresh - allowed;
}

export function knownSeen({ seen, fresh }: { seen: number; fresh: number }): number {
  return Math.max(0, seen - fresh);
}
