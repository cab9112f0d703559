/**
 * `settle`: a change waits at the head of its lane until its record has been still for a while; then those behind it are
 * merged into it. What belongs to a merge is decided once, before a handler first sees it, and stands in the job from then
 * on: every further try, after whatever crash, is of the same merge with the same id.
 *
 * Still is reckoned from when events were queued, not from when they were logged: a backlog is merged as well.
 */
import type { Job } from 'bullmq';
import type { Clock } from '../runtime/clock.js';
import type { ChangeEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { JobHistory } from './job-history.js';
import { compileSelection } from './match.js';
import { isOpen, mergeChanges, type ComparisonOf } from './merge-changes.js';
import { readParked, removeParked, type Parked, type Store } from './delayed-jobs.js';
import type { Claim, Delivery, RecordGate } from './ports.js';

/** A record that changes without end must not make one event of unbounded size. What is beyond begins the next merge. */
const MOST_MERGED = 500;

export interface SettleOptions {
  job: Job<Delivery>;
  claim: Claim;
  history: JobHistory;
  subscription: Subscription;
  gate: RecordGate;
  store: Store;
  clock: Clock;
  comparisonOf?: ComparisonOf | undefined;
}

export type Settled =
  | { outcome: 'go' }
  /** The record has not been still for long enough. */
  | { outcome: 'wait'; untilMs: number }
  /** The changes have cancelled each other out, or what is left of them is not selected: they have left. */
  | { outcome: 'nothing'; next: string | null }
  | { outcome: 'taken-over' };

/** Asked when the job has its turn. `go`: its data is now what shall be handled. */
export async function settle(options: SettleOptions): Promise<Settled> {
  const { job, claim, history, subscription, gate, store, clock } = options;
  if (subscription.settle === undefined || claim.group === null || isDecided(job, history)) return { outcome: 'go' };
  if (!isOpen(job.data.event)) return decide([], options);
  const ids = await gate.followers(subscription.name, claim, MOST_MERGED - 1);
  const untilMs = await stillAt(ids, options, subscription.settle);
  if (clock.now() < untilMs) return { outcome: 'wait', untilMs };
  return decide(await readParked(store, ids), options);
}

/** A dead letter that is tried again is what it was. So is what was tried before `settle` was switched on. */
function isDecided({ data }: Job<Delivery>, { attempt, death: dying, retried: revived, batchFailure: ridden }: JobHistory): boolean {
  return data.mergedUnder !== undefined || attempt > 1 || dying !== null || revived || ridden !== null;
}

async function stillAt(
  ids: readonly string[],
  { job, store, clock }: SettleOptions,
  { stillMs, atMostMs }: NonNullable<Subscription['settle']>,
): Promise<number> {
  const newest = ids.slice(-1);
  const [last] = await readParked(store, newest);
  // One that is not in the queue yet is being added just now.
  const lastAt = last?.addedAt ?? (newest.length === 0 ? job.timestamp : clock.now());
  return Math.min(lastAt + stillMs, job.timestamp + atMostMs);
}

async function decide(
  parked: readonly Parked[],
  { job, claim, subscription, gate, store, comparisonOf }: SettleOptions,
): Promise<Settled> {
  const { data } = job;
  // A replay is told apart from what came by itself, and from another replay.
  const other = parked.findIndex(
    ({ delivery }) => delivery.replay !== data.replay || delivery.mergedUnder !== undefined,
  );
  const candidates = other === -1 ? parked : parked.slice(0, other);
  const events: [ChangeEvent, ...ChangeEvent[]] = [data.event, ...candidates.map(({ delivery }) => delivery.event)];
  const { taken, event } = mergeChanges(events, { comparisonOf });
  const followers = candidates.slice(0, taken - 1).map(({ id }) => id);

  if (event === null || (taken > 1 && !compileSelection(subscription)(event))) {
    const left = await gate.leaveTogether(subscription.name, claim, { followers });
    if (left.outcome === 'taken-over') return left;
    await removeParked(store, followers);
    return { outcome: 'nothing', next: left.next };
  }
  const delivery: Delivery = { ...data, event, mergedUnder: data.event.id };
  const held = await gate.merge(subscription.name, claim, { followers, delivery });
  if (held.outcome === 'taken-over') return held;
  job.data = delivery;
  await removeParked(store, followers);
  return { outcome: 'go' };
}
