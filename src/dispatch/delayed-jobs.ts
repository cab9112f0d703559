/**
 * The jobs of events that wait behind the head of their ordering group. They are BullMQ jobs with a long delay, promoted when
 * their turn comes. The delay is only a fallback: a job that it wakes and that is still not the head is delayed again.
 */
import type { Queue, Worker } from 'bullmq';
import type { Delivery } from './ports.js';

/** Access to a subscription's queue: BullMQ's `Queue` and `Worker` both have it. */
export type QueueHandle = Pick<Queue<Delivery>, 'getBackend'> | Pick<Worker<Delivery>, 'getBackend'>;

/** Makes the job run now. A job that is not delayed (it runs, or is not added yet) is no error. */
export async function promote(queue: QueueHandle, jobId: string): Promise<void> {
  try {
    await queue.getBackend().promote(jobId);
  } catch (error) {
    if (!isNotDelayed(error)) throw error;
  }
}

/** Like `promote`, but leaves a job with a failed attempt alone: it waits for its retry, not for its turn. */
export async function promoteUntried(queue: QueueHandle, jobId: string): Promise<void> {
  const job = await queue.getBackend().getJobData(jobId);
  if (job !== undefined && job.attemptsMade === 0) await promote(queue, jobId);
}

// BullMQ's codes for "the job is not in the expected set" and "there is no such job".
const NOT_DELAYED: readonly unknown[] = [-3, -1];

function isNotDelayed(error: unknown): boolean {
  return error instanceof Error && NOT_DELAYED.includes((error as { code?: unknown }).code);
}

/** A waiting job without an attempt: its event can be merged into the head, or handled in the same batch. */
export interface Follower {
  id: string;
  delivery: Delivery;
  /** When it was added, ms since the epoch. */
  addedAt: number;
}

/** The jobs with these ids, up to the first that is not added yet or has been attempted before. */
export async function readFollowers(queue: QueueHandle, ids: readonly string[]): Promise<Follower[]> {
  const backend = queue.getBackend();
  const jobs = await Promise.all(ids.map((id) => backend.getJobData(id)));
  const read = jobs.map((job, index): Follower | undefined => {
    // A job with progress was a dead letter, or has failed in a batch: it must run by itself.
    if (job === undefined || job.attemptsMade > 0 || typeof job.progress === 'object') return undefined;
    return { id: ids[index] ?? '', delivery: JSON.parse(job.data) as Delivery, addedAt: job.timestamp };
  });
  const end = read.indexOf(undefined);
  return read.slice(0, end === -1 ? read.length : end).filter((one) => one !== undefined);
}

/** Removes jobs whose events have left their group. One that cannot be removed because it runs finds that out at its turn. */
export async function removeFollowers(queue: QueueHandle, ids: readonly string[]): Promise<void> {
  const backend = queue.getBackend();
  await Promise.all(ids.map((id) => backend.remove(id, false)));
}
