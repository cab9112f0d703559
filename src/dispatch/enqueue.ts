/**
 * Enters events into their ordering groups, then adds the jobs of those that are heads. A crash can come after each step; then both are
 * repeated:
 *   entered, not added   the repeat finds the event at the head and adds its job
 *   added                BullMQ knows the job, or the event has left its group: nothing happens twice
 */
import type { Queue } from 'bullmq';
import type { ChangeEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { deliveryIdOf } from './delivery-id.js';
import type { SourceBatch, JobData, NewEntry, RecordGate } from './ports.js';
import { addJobs, groupOf } from './queues.js';

export interface Target {
  queue: Queue<JobData>;
  gate: RecordGate;
}

/** An event on its way into its ordering group. */
export interface Sent extends Pick<NewEntry, 'logId' | 'stored'> {
  event: ChangeEvent;
  /** Its number within its source. @defaultValue its log id */
  serial?: string;
}

export interface Source {
  workspace: string;
  /** The replay or snapshot. @defaultValue the workspace's log */
  origin?: string;
  readAt: SourceBatch['readAt'];
  subscription: Subscription;
  clock: Clock;
}

/** Enqueues selected events of the log, of a replay or of a snapshot. */
export function enqueueEvents(events: readonly Sent[], from: Source, target: Target): Promise<number | undefined> {
  const { workspace, origin, readAt, subscription, clock } = from;
  const source = origin === undefined ? workspace : `${origin}:${workspace}`;
  const atMs = clock.now();
  const entries = events.map(({ event, logId, serial = logId, stored }): NewEntry => {
    const group = groupOf(workspace, event, subscription);
    const kind = stored === undefined ? 'logged' : 'stored';
    const id = deliveryIdOf(event.id, serial, origin);
    return { id, logId, serial, atMs, kind, type: event.type, group, ...(stored && { stored }) };
  });
  return enqueue({ workspace, source, readAt, entries }, target);
}

/**
 * If nothing was entered because what the batch was read at has changed, the step that follows (moving the offset, replacing the task) changes
 * nothing either, and the next turn reads again.
 * @returns the number of pending events of the subscription and workspace; undefined when there was nothing to enter
 */
export async function enqueue(batch: SourceBatch, { queue, gate }: Target): Promise<number | undefined> {
  const { entries, workspace } = batch;
  if (entries.length === 0) return undefined;
  const { heads, pending } = await gate.enter(queue.name, batch);
  const added = entries.filter((_, index) => heads[index]);
  await addJobs(
    queue,
    added.map(({ group, ...entry }: NewEntry) => ({ workspace, group, entry })),
  );
  return pending;
}
