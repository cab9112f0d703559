/** The guard on new records, as the sweeps of a list apply it (`detect/creation.ts` decides). */
import {
  DEFAULT_CREATIONS,
  allowanceFor,
  isHeld,
  isReplaced,
  knownSeen,
  type CreationGuard,
} from '../../detect/creation.js';
import { heldOf, type Held } from '../../detect/held.js';
import { NO_VERDICT, type Verdict } from '../../detect/survey.js';
import type { ListName } from '../../../crm/lists/lists.js';
import { isoTime } from '../../../kit/clock.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import type { Checkpoint, SweepSummary } from '../../store/sweep-state.js';

/** `reported`: new records that were reported before the last complete sweep held the others. */
export type ListGuard = CreationGuard & { reported: number };

export function guardOf(
  { rules: { list }, creations = DEFAULT_CREATIONS }: Pick<SweepOptions, 'rules' | 'creations'>,
  lastSweep: SweepSummary | null,
): ListGuard {
  const held = heldOf(lastSweep?.held, 'creations');
  const { seen = 0, missing = 0, held: heldBack = 0 } = lastSweep?.counts ?? {};
  // While new records are held, and after the sweep that clears them, the list counts as it was before.
  const before = held?.known?.of ?? seen + missing - heldBack;
  return { list, rules: creations, before, reported: held?.reported ?? 0 };
}

type Decided = Awaited<ReturnType<SweepDeps['store']['decidedAt']>>;

/** Now, but after all that was held or decided, whatever clocks said: an acceptance covers nothing later. */
export async function afterHeld(
  { store, clock }: SweepDeps,
  list: ListName,
  lastSweep: SweepSummary | null,
): Promise<Decided & { at: string }> {
  const { acceptedAt, discardedAt } = await store.decidedAt(list);
  const held = [acceptedAt, discardedAt, ...(lastSweep?.held ?? []).map((one) => one.at)];
  const heldMs = held.map((time) => Date.parse(time ?? '') || 0);
  return { at: isoTime(Math.max(clock.now(), ...heldMs.map((ms) => ms + 1))), acceptedAt, discardedAt };
}

/** New records that the last complete sweep held wait further, or pass because a person accepted or discarded them. */
export function firstVerdict(lastSweep: SweepSummary | null, { acceptedAt, discardedAt }: Decided): Verdict {
  const held = heldOf(lastSweep?.held, 'creations');
  if (held === undefined) return NO_VERDICT;
  const allowed = allowanceFor(held.count + (held.reported ?? 0));
  if (discardedAt !== null && discardedAt >= held.since) return { ...NO_VERDICT, allowed, quiet: true };
  return acceptedAt !== null && acceptedAt >= held.since
    ? { ...NO_VERDICT, allowed }
    : { ...NO_VERDICT, heldSince: held.since };
}

export function heldCreations(
  { counts, fresh = 0, verdict }: Pick<Checkpoint, 'counts' | 'fresh' | 'verdict'>,
  guard: ListGuard,
  at: string,
): Held | null {
  const { heldSince } = verdict ?? NO_VERDICT;
  if (heldSince === null || counts.held === 0) return null;
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
