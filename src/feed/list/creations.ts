/**
 * The guard on new records, as a list applies it to walks and shortcuts (`detect/creation.ts` decides). Both add to one number, `list.fresh`,
 * which is committed with their pages: the new records that were reported since the last complete sweep.
 */
import type { Page } from '../api/read-api.js';
import {
  DEFAULT_CREATIONS,
  allowanceFor,
  isHeld,
  isReplaced,
  isStrange,
  isSuspicious,
  knownSeen,
} from '../detect/creation.js';
import { heldOf, type Held } from '../detect/held.js';
import { isKnown } from '../detect/record-state.js';
import { NO_VERDICT, type Verdict } from '../detect/survey.js';
import { titleOfRecord } from '../../events/describe.js';
import { shorten } from '../../kit/printable.js';
import { isoTime } from '../../kit/clock.js';
import type { FeedList } from './list.js';
import { readSeen, type SeenRecord } from './records.js';

/** `before`: records of the list before new ones were held. `reported`: those that were reported before the last complete sweep held the others. */
export function guardOf({ rules: { list }, options: { creations: rules = DEFAULT_CREATIONS }, lastSweep }: FeedList) {
  const held = heldOf(lastSweep?.held, 'creations');
  const { seen = 0, missing = 0, held: heldBack = 0 } = lastSweep?.counts ?? {};
  // While new records are held, and after the sweep that clears them, the list counts as it was before.
  const before = held?.known?.of ?? seen + missing - heldBack;
  return { list, rules, before, reported: held?.reported ?? 0 };
}

/** How many new records there are with those of a page, of walks and shortcuts together. */
function freshWith({ fresh }: FeedList, guard: { reported: number }, onPage = 0): number {
  return guard.reported + fresh + onPage;
}

/** New records that were reported since the last complete sweep, and before it held the others. */
export function reportedNew(list: FeedList): number {
  return freshWith(list, guardOf(list));
}

/**
 * The new records so far, when they are suspiciously many; otherwise 0. A baseline is not guarded.
 * @param rows of a page of the walk, first seen by it; all rows of a shortcut's page
 * @param by.isOurs asked about a page without a known record: whether the list shows some elsewhere
 */
export async function suspiciousCreations(
  list: FeedList,
  rows: readonly SeenRecord[],
  { isWalk, isOurs }: { isWalk: boolean; isOurs: () => Promise<boolean> },
): Promise<number> {
  const { checkpoint, verdict } = list;
  if (checkpoint.mode === 'baseline' || verdict.heldSince !== null) return 0;
  const knownRows = rows.filter(({ storedDigest }) => isKnown(storedDigest)).length;
  if (knownRows === rows.length) return 0;
  const guard = guardOf(list);
  const fresh = freshWith(list, guard, rows.length - knownRows);
  const soFar = { seen: checkpoint.counts.seen + rows.length, known: (checkpoint.known ?? 0) + knownRows };
  // The list may have been replaced after the walk had shown known records.
  const isOfAnother = async (): Promise<boolean> =>
    (isWalk && isStrange(soFar, guard)) ||
    (knownRows === 0 && isStrange({ seen: rows.length, known: knownRows }, guard) && !(await isOurs()));
  return isSuspicious({ fresh, isStrange: await isOfAnother() }, guard, verdict) ? fresh : 0;
}

export async function showsKnown(list: FeedList, page: Page): Promise<boolean> {
  return (await readSeen(list, page)).some(({ storedDigest }) => isKnown(storedDigest));
}

/** Now, but after all that was held or decided, whatever clocks said: an acceptance covers nothing later. */
export async function afterHeld({ name, deps: { store, clock }, lastSweep }: FeedList) {
  const decided = await store.decided(name);
  const { creations, removals } = decided;
  const held = [
    ...[creations, removals].flatMap(({ acceptedAt, discardedAt }) => [acceptedAt, discardedAt]),
    ...(lastSweep?.held ?? []).map((one) => one.at),
  ];
  const heldMs = held.map((time) => Date.parse(time ?? '') || 0);
  return { at: isoTime(Math.max(clock.now(), ...heldMs.map((ms) => ms + 1))), ...decided };
}

/** New records that the last complete sweep held wait further, or pass because a person accepted or discarded them. */
export async function firstVerdict({ name, deps: { store }, state: { lastSweep } }: FeedList): Promise<Verdict> {
  const { acceptedAt, discardedAt } = (await store.decided(name)).creations;
  const held = heldOf(lastSweep?.held, 'creations');
  if (held === undefined) return NO_VERDICT;
  const passes = {
    ...{ ...NO_VERDICT, allowed: allowanceFor(held.count + (held.reported ?? 0)) },
    ...(held.why !== 'replaced' && { ours: true as const }),
  };
  if (discardedAt !== null && discardedAt >= held.since) return { ...passes, quiet: true };
  return acceptedAt !== null && acceptedAt >= held.since ? passes : { ...NO_VERDICT, heldSince: held.since };
}

/** How many held records are named, and how much of a title is kept. */
const EXAMPLES = 3;
const MOST_TITLE = 100;

/** Some of the new records that are held are named, for a person to recognise them by. */
export function nameHeld({ heldExamples: named }: FeedList, { key: id, record }: SeenRecord): void {
  if (named.length === EXAMPLES || named.some((one) => one.id === id)) return;
  named.push({ id, title: shorten(titleOfRecord(record) ?? '', MOST_TITLE) || null });
}

/** @param at ISO 8601 */
export function heldCreations(list: FeedList, at: string): Held | null {
  const { counts } = list.checkpoint;
  const { heldSince } = list.verdict;
  if (heldSince === null || counts.held === 0) return null;
  const guard = guardOf(list);
  const reported = freshWith(list, guard);
  const total = { seen: counts.seen, fresh: counts.held + reported, allowed: 0 };
  if (!isHeld(total, guard)) return null;
  const knownShare = { seen: knownSeen(total), of: guard.before };
  return {
    what: 'creations',
    why: isReplaced(knownShare) ? 'replaced' : 'too many',
    count: counts.held,
    of: counts.seen,
    since: heldSince,
    at,
    known: knownShare,
    reported,
  };
}
