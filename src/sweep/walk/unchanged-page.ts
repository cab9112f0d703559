/**
 * A page with the bytes that the last complete sweep read is skipped: it is not parsed, and no record on it is compared. This is sound
 * because the page is kept only while every record on it is stored as the page shows it:
 * - whatever writes one of its records otherwise forgets the page in the same commit, or when the sweep is finished;
 * - a page with a record in doubt, held or left alone is not kept.
 */
import type { Checkpoint, StoredPage, SweepSummary } from '../store.js';

/** A baseline stores every record again. */
export function mayBeSkipped({
  checkpoint: { mode },
  lastSweep,
}: {
  checkpoint: Pick<Checkpoint, 'mode'>;
  lastSweep: SweepSummary | null;
}): boolean {
  return mode === 'changes' && lastSweep !== null;
}

/** Where the sweep stands after an unchanged page. */
export function afterUnchanged(
  { counts }: Pick<Checkpoint, 'counts'>,
  { records }: Pick<StoredPage, 'records'>,
): Pick<Checkpoint, 'counts'> {
  return { counts: { ...counts, seen: counts.seen + records, unchanged: counts.unchanged + records } };
}
