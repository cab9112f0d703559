/**
 * Debounce (option `settle`): a change waits at the head of its ordering group until its record has been quiet for a while;
 * then the events behind it are merged into it. The merge is decided once, before the handler is first called, and stored
 * in the job: every later attempt, after any crash, is of the same merge with the same id.
 *
 * The quiet time counts from when events were queued, not from when they were logged, so a backlog is merged as well.
 */
import type { Job } from 'bullmq';
import type { ChangeEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { readFollowers, removeFollowers, type Follower, type QueueHandle } from './delayed-jobs.js';
import type { JobHistory } from './job-history.js';
import { compileSelection } from './match.js';
import { isOpen, mergeChanges, type ComparisonOf } from './merge-changes.js';
import type { Claim, Delivery, RecordGate } from './ports.js';

/** Bounds the size of a merged event for a record that changes all the time. Further events start the next merge. */
const MOST_MERGED = 500;

export interface DebounceOptions {
  job: Job<Delivery>;
  claim: Claim;
  history: JobHistory;
  subscription: Subscription;
  gate: RecordGate;
  queue: QueueHandle;
  clock: Clock;
  comparisonOf?: ComparisonOf | undefined;
}

export type DebounceResult =
  /** The job's data is what the handler gets. */
  | { outcome: 'go' }
  /** The record has not been quiet for long enough. */
  | { outcome: 'wait'; untilMs: number }
  /** The changes cancel each other out, or the merged event is not selected: all of them have left the group. */
  | { outcome: 'nothing'; next: string | null }
  | { outcome: 'taken-over' };

/** Called when the job has its turn. */
export async function debounce(options: DebounceOptions): Promise<DebounceResult> {
  const { job, claim, history, subscription, gate, queue, clock } = options;
  if (subscription.settle === undefined || claim.group === null || isDecided(job, history)) return { outcome: 'go' };
  if (!isOpen(job.data.event)) return merge([], options);
  const ids = await gate.followers(subscription.name, claim, MOST_MERGED - 1);
  const untilMs = await quietAt(ids, options, subscription.settle);
  if (clock.now() < untilMs) return { outcome: 'wait', untilMs };
  return merge(await readFollowers(queue, ids), options);
}

/** A retried dead letter stays the event it was. So does an event that was attempted before `settle` was switched on. */
function isDecided({ data }: Job<Delivery>, { attempt, death, retried, batchFailure }: JobHistory): boolean {
  return data.mergedUnder !== undefined || attempt > 1 || death !== null || retried || batchFailure !== null;
}

async function quietAt(
  ids: readonly string[],
  { job, queue, clock }: DebounceOptions,
  { stillMs, atMostMs }: NonNullable<Subscription['settle']>,
): Promise<number> {
  const newest = ids.slice(-1);
  const [last] = await readFollowers(queue, newest);
  // A follower that is not in the queue yet is being added now.
  const lastAt = last?.addedAt ?? (newest.length === 0 ? job.timestamp : clock.now());
  return Math.min(lastAt + stillMs, job.timestamp + atMostMs);
}

async function merge(behind: readonly Follower[], options: DebounceOptions): Promise<DebounceResult> {
  const { job, claim, subscription, gate, queue, comparisonOf } = options;
  const { data } = job;
  // The events of a replay are not merged with live events or with another replay.
  const other = behind.findIndex(
    ({ delivery }) => delivery.replay !== data.replay || delivery.mergedUnder !== undefined,
  );
  const candidates = other === -1 ? behind : behind.slice(0, other);
  const events: [ChangeEvent, ...ChangeEvent[]] = [data.event, ...candidates.map(({ delivery }) => delivery.event)];
  const { taken, event } = mergeChanges(events, { comparisonOf });
  const followers = candidates.slice(0, taken - 1).map(({ id }) => id);

  if (event === null || (taken > 1 && !compileSelection(subscription)(event))) {
    const left = await gate.leaveTogether(subscription.name, claim, { followers });
    if (left.outcome === 'taken-over') return left;
    await removeFollowers(queue, followers);
    return { outcome: 'nothing', next: left.next };
  }
  const delivery: Delivery = { ...data, event, mergedUnder: data.event.id };
  const merged = await gate.merge(subscription.name, claim, { followers, delivery });
  if (merged.outcome === 'taken-over') return merged;
  job.data = delivery;
  await removeFollowers(queue, followers);
  return { outcome: 'go' };
}
