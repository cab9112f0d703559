/** The guard on new records, as the sweeps of a list apply it (`detect/creation.ts` decides). */
import { DEFAULT_CREATIONS, allowanceFor, isHeld, isReplaced, knownSeen } from '../detect/creation.js';
import { heldOf, type Held } from '../detect/held.js';
import { NO_VERDICT, type Verdict } from '../detect/survey.js';
import { isoTime } from '../../kit/clock.js';
import type { FeedList } from './list.js';

/** `before`: records of the list before new ones were held. `reported`: those that were reported before the last complete sweep held the others. */
export function guardOf({ rules: { list }, options: { creations: rules = DEFAULT_CREATIONS }, lastSweep }: FeedList) {
  const held = heldOf(lastSweep?.held, 'creations');
  const { seen = 0, missing = 0, held: heldBack = 0 } = lastSweep?.counts ?? {};
  // While new records are held, and after the sweep that clears them, the list counts as it was before.
  const before = held?.known?.of ?? seen + missing - heldBack;
  return { list, rules, before, reported: held?.reported ?? 0 };
}

/** Now, but after all that was held or decided, whatever clocks said: an acceptance covers nothing later. */
export async function afterHeld({ name, deps: { store, clock }, lastSweep }: FeedList) {
  const { acceptedAt, discardedAt } = await store.decidedAt(name);
  const held = [acceptedAt, discardedAt, ...(lastSweep?.held ?? []).map((one) => one.at)];
  const heldMs = held.map((time) => Date.parse(time ?? '') || 0);
  return { at: isoTime(Math.max(clock.now(), ...heldMs.map((ms) => ms + 1))), acceptedAt, discardedAt };
}

/** New records that the last complete sweep held wait further, or pass because a person accepted or discarded them. */
export async function firstVerdict({ name, deps: { store }, state: { lastSweep } }: FeedList): Promise<Verdict> {
  const { acceptedAt, discardedAt } = await store.decidedAt(name);
  const held = heldOf(lastSweep?.held, 'creations');
  if (held === undefined) return NO_VERDICT;
  const allowed = allowanceFor(held.count + (held.reported ?? 0));
  if (discardedAt !== null && discardedAt >= held.since) return { ...NO_VERDICT, allowed, quiet: true };
  return acceptedAt !== null && acceptedAt >= held.since
    ? { ...NO_VERDICT, allowed }
    : { ...NO_VERDICT, heldSince: held.since };
}

/** @param at ISO 8601 */
export function heldCreations(list: FeedList, at: string): Held | null {
  const { counts, fresh = 0 } = list.checkpoint;
  const { heldSince } = list.verdict;
  if (heldSince === null || counts.held === 0) return null;
  const guard = guardOf(list);
  const reported = guard.reported + fresh;
  const total = { seen: counts.seen, fresh: counts.held + reported, allowed: 0 };
  if (!isHeld(total, guard)) return null;
  const known = { seen: knownSeen(total), of: guard.before };
  return {
    what: 'creations',
    why: isReplaced(known) ? 'replaced' : 'too many',
    count: counts.held,
    of: counts.seen,
    since: heldSince,
    at,
    known,
    reported,
  };
}
