/**
 * Enters events into their ordering groups, then adds the jobs of those that are heads. A crash can come after each step; then both are
 * repeated:
 *   entered, not added   the repeat finds the event at the head and adds its job
 *   added                BullMQ knows the job, or the event has left its group: nothing happens twice
 */
import type { Queue } from 'bullmq';
import type { Batch, JobData, NewEntry, RecordGate } from './ports.js';
import { addJobs } from './queues.js';

export interface Target {
  subscription: string;
  queue: Queue<JobData>;
  gate: RecordGate;
}

/** @returns the number of pending events of the subscription and workspace; undefined when there was nothing to enter */
export async function enqueue(batch: Batch, { subscription, queue, gate }: Target): Promise<number | undefined> {
  const { entries, workspace } = batch;
  if (entries.length === 0) return undefined;
  const { heads, pending } = await gate.enter(subscription, batch);
  const added = entries.filter((_, index) => heads[index]);
  await addJobs(
    queue,
    added.map(({ group, ...entry }: NewEntry) => ({ workspace, group, entry })),
  );
  return pending;
}
