/**
 * A page with the bytes that the last complete sweep read is skipped: it is not parsed, and no record on it is compared. This is sound
 * because the page is kept only while every record on it is stored as the page shows it:
 * - whatever writes one of its records otherwise forgets the page in the same commit, or when the sweep is finished;
 * - a page with a record in quarantine, in doubt or withheld is not kept.
 */
import { noDrift } from '../detect/schema-drift/drift.js';
import type { Checkpoint, StoredPage, SweepSummary } from './store.js';

/** A baseline stores every record again, and while new records are held back every page counts towards the decision. */
export function mayBeSkipped({
  checkpoint: { mode, creations },
  lastSweep,
}: {
  checkpoint: Pick<Checkpoint, 'mode' | 'creations'>;
  lastSweep: SweepSummary | null;
}): boolean {
  return (
    mode === 'changes' && creations?.withholds !== true && lastSweep !== null && lastSweep.heldCreations === undefined
  );
}

/** Where the sweep stands after an unchanged page. */
export function afterUnchanged(
  { counts, drift = noDrift() }: Pick<Checkpoint, 'counts' | 'drift'>,
  { records }: Pick<StoredPage, 'records'>,
): Pick<Checkpoint, 'counts' | 'drift'> {
  return {
    counts: { ...counts, seen: counts.seen + records, unchanged: counts.unchanged + records },
    drift: { ...drift, rows: drift.rows + records },
  };
}
