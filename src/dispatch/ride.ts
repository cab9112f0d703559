/**
 * The end of a journey for a head and those who rode along behind it in one batch. What was handled leaves at once, the
 * head included: killed before, all of them are handled again in their order; killed after, none is.
 *
 * A rider that failed becomes the head. Its failure is written on its job first, and is told to BullMQ when its own turn
 * has come (see `history`): killed in between, a try that did happen is counted, and nothing else.
 */
import type { Subscription } from '../handlers/handler.js';
import type { BatchFailure } from './job-history.js';
import { removeParked, type Parked, type Store } from './delayed-jobs.js';
import type { Claim, Leave, RecordGate } from './ports.js';

export interface RideEnd {
  claim: Claim;
  /** Those who were handled. */
  handled: readonly Parked[];
  /** The one behind them, when it failed. */
  failed?: { rider: Parked; ridden: BatchFailure } | undefined;
}

export interface RideDeps {
  subscription: Subscription;
  gate: RecordGate;
  store: Store;
}

export async function endRide(
  { claim, handled, failed }: RideEnd,
  { subscription: { name }, gate, store }: RideDeps,
): Promise<Leave> {
  if (failed !== undefined) {
    const { rider, ridden } = failed;
    await store.getBackend().updateProgress(rider.id, { ridden });
  }
  const followers = handled.map(({ id }) => id);
  const left =
    followers.length === 0 ? await gate.leave(name, claim) : await gate.leaveTogether(name, claim, { followers });
  if (left.outcome === 'left') await removeParked(store, followers);
  return left;
}
