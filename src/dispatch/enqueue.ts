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
import type { Batch, JobData, NewEntry, RecordGate } from './ports.js';
import { addJobs, groupOf } from './queues.js';

export interface Target {
  queue: Queue<JobData>;
  gate: RecordGate;
}

/** An event on its way into its ordering group. */
export interface Sent extends Pick<NewEntry, 'logId' | 'stored'> {
  event: ChangeEvent;
  /** Its number within its source. @defaultValue its log id */
  mark?: string;
}

export interface Source extends Pick<Batch, 'workspace' | 'source'> {
  subscription: Subscription;
  clock: Clock;
  /** The id of the delivery of an event. @defaultValue the event's id */
  idOf?: (eventId: string) => string;
}

/** Enqueues selected events of the log, of a replay or of a snapshot. */
export function enqueueEvents(events: readonly Sent[], from: Source, target: Target): Promise<number | undefined> {
  const { workspace, source, subscription, clock, idOf = (id: string) => id } = from;
  const atMs = clock.now();
  const entries = events.map(({ event, logId, mark = logId, stored }): NewEntry => {
    const group = groupOf(workspace, event, subscription);
    const kind = stored === undefined ? 'logged' : 'stored';
    return { id: idOf(event.id), logId, mark, atMs, kind, type: event.type, group, ...(stored && { stored }) };
  });
  return enqueue({ workspace, source, entries }, target);
}

/** @returns the number of pending events of the subscription and workspace; undefined when there was nothing to enter */
export async function enqueue(batch: Batch, { queue, gate }: Target): Promise<number | undefined> {
  const { entries, workspace } = batch;
  if (entries.length === 0) return undefined;
  const { heads, pending, askedAtMs } = await gate.enter(queue.name, batch);
  const added = entries.filter((_, index) => heads[index]);
  await addJobs(
    queue,
    added.map(({ group, ...entry }: NewEntry) => ({ workspace, group, entry, askedAtMs })),
  );
  return pending;
}
