/** What every step of settling starts from, and what ends it. */
import type { ListName } from '../events/lists.js';
import { leaseLost } from './lease-keeper.js';
import type { Checkpoint, CommitResult, FencingToken, SweepSummary } from './store.js';

export interface Settling {
  checkpoint: Checkpoint;
  token: FencingToken;
  lastSweep: SweepSummary | null;
}

/** @throws ChangefeedError CF_LEASE_LOST */
export function unfenced(list: ListName, result: CommitResult): void {
  if (result.outcome === 'fenced') throw leaseLost(list);
}
