/** What every step of settling starts from, and what ends it. */
import type { TrackedFields } from '../detect/schema.js';
import { ChangefeedError } from '../errors.js';
import type { ListName } from '../events/lists.js';
import { leaseLost } from './lease-keeper.js';
import type { Checkpoint, CommitResult, FencingToken, SweepSummary } from './store.js';

export interface Settling {
  checkpoint: Checkpoint;
  token: FencingToken;
  lastSweep: SweepSummary | null;
  /** The fields the tally of the schema counts. */
  tracked: TrackedFields;
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
export function unfenced(list: ListName, result: CommitResult): void {
  if (result.outcome === 'fenced') throw leaseLost(list);
  if (result.outcome === 'lost') throw stateLost(list);
}

function stateLost(list: ListName): ChangefeedError {
  return new ChangefeedError('CF_STATE_LOST', {
    list,
    message: `List "${list}": its records are gone from Redis (evicted or deleted). Nothing was reported as new: the next sweep takes a new baseline without events. What changed since the last complete sweep yields no event.`,
  });
}
