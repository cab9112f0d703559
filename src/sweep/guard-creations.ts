/** Applies the guard on new records to one page before anything of it is written. */
import type { ListName } from '../crm/lists/lists.js';
import {
  allowanceFor,
  DEFAULT_CREATIONS,
  isReplaced,
  decideCreations,
  knownSeen,
  type CreationGuard,
  type CreationTally,
} from '../detect/creation.js';
import { isPresent } from '../detect/removal.js';
import { noCounts } from './counts.js';
import type { ClassifyOptions } from './classify-record.js';
import type { SweepOptions } from './options.js';
import type { SweepCounts, SweepStore, SweepSummary } from './store.js';

export type GuardedPage =
  | {
      outcome: 'go on';
      withholds: boolean;
      /** The tally of the sweep including this page; null in a baseline. */
      tallyAfter: (counts: SweepCounts) => CreationTally | null;
      /** The tally when only these records of the page are committed. */
      tallyOfParts: (keys: readonly string[]) => CreationTally | null;
    }
  /** Nothing of the page is written. The list is read again from its first page, and `allowed` new records may pass. */
  | { outcome: 'walk again'; allowed: number };

const UNGUARDED: GuardedPage = { outcome: 'go on', withholds: false, tallyAfter: () => null, tallyOfParts: () => null };

export function guardCreations(
  {
    guard,
    checkpoint,
    memory,
    ended,
    observation,
  }: Pick<ClassifyOptions, 'guard' | 'checkpoint' | 'memory' | 'ended' | 'observation'>,
  page: readonly { key: string; storedDigest: string | null }[],
): GuardedPage {
  if (guard === null) return UNGUARDED;
  const { fresh: before, allowed, withholds } = checkpoint.creations ?? NOTHING_YET;
  const first = page.filter(({ key }) => !memory.seen.has(key));
  const freshKeys = new Set(first.filter(({ storedDigest }) => !isPresent(storedDigest)).map(({ key }) => key));
  const freshOnPage = freshKeys.size;
  const fresh = before + freshOnPage;
  const freshAmong = (keys: readonly string[]): number => before + keys.filter((key) => freshKeys.has(key)).length;
  const seen = checkpoint.counts.seen + first.length;
  const { withheld } = checkpoint.counts;
  const tally = { fresh, allowed, ...(withholds === true && { withholds }) };
  const decision = decideCreations({ tally, seen, withheld, freshOnPage, ended }, guard);
  const reported = guard.reported ?? 0;
  if (decision === 'walk again') return { outcome: 'walk again', allowed: allowanceFor(fresh + reported) };
  if (decision === 'report') {
    const tallyOfParts = (keys: readonly string[]): CreationTally => ({ fresh: freshAmong(keys), allowed });
    return { outcome: 'go on', withholds: false, tallyAfter: () => ({ fresh, allowed }), tallyOfParts };
  }
  const { observedAt: at } = observation;
  const known = { seen: knownSeen({ seen, tally }, guard), of: guard.before };
  return {
    outcome: 'go on',
    withholds: true,
    tallyOfParts: (keys) => ({ fresh: freshAmong(keys), allowed, withholds: true }),
    // A record that reappeared may be doubted instead of withheld. Then nothing is held.
    tallyAfter: ({ withheld: count, created }) => ({
      ...{ fresh, allowed, withholds: true },
      ...(decision === 'hold' &&
        count > 0 && {
          held: { count, of: seen, at, reported: reported + created, known, replaced: isReplaced(known) },
        }),
    }),
  };
}

const NOTHING_YET: CreationTally = { fresh: 0, allowed: 0 };

/** How many new records may pass because a person accepted those held by the last complete sweep. */
export async function allowedByPerson(
  store: Pick<SweepStore, 'creationsAcceptedAt'>,
  list: ListName,
  lastSweep: SweepSummary | null,
): Promise<number> {
  const held = lastSweep?.heldCreations;
  if (held === undefined || (await store.creationsAcceptedAt(list)) !== held.at) return 0;
  return allowanceFor(held.count + held.reported);
}

export function guardOf(
  { rules: { list }, creations = DEFAULT_CREATIONS }: Pick<SweepOptions, 'rules' | 'creations'>,
  lastSweep: SweepSummary | null,
): CreationGuard {
  const { counts, heldCreations } = lastSweep ?? { counts: noCounts(), heldCreations: undefined };
  // While new records are held, the list is measured by the records it had before.
  const before = heldCreations?.known.of ?? counts.seen + counts.missing;
  return { list, rules: creations, before, reported: heldCreations?.reported ?? null };
}
