/**
 * Followers of a lane's head are parked: BullMQ jobs with a long delay, promoted when their turn comes. The delay is only
 * the net under that; a job that wakes by it and is still not the head parks again.
 */
import type { Queue, Worker } from 'bullmq';
import type { Delivery } from './ports.js';

/** Any end of a subscription's queue. */
export type Store = Pick<Queue<Delivery>, 'getBackend'> | Pick<Worker<Delivery>, 'getBackend'>;

/** Makes the job run now. That it is not delayed (it runs, or is not added yet) is no error: then others see to it. */
export async function promote(store: Store, jobId: string): Promise<void> {
  try {
    await store.getBackend().promote(jobId);
  } catch (error) {
    if (!isNotDelayed(error)) throw error;
  }
}

/** Like `promote`, but leaves alone a job that has been tried before: it waits for its retry, not for its turn. */
export async function promoteParked(store: Store, jobId: string): Promise<void> {
  const job = await store.getBackend().getJobData(jobId);
  if (job !== undefined && job.attemptsMade === 0) await promote(store, jobId);
}

// BullMQ's numbers for "the job is not in the set it was expected in" and "there is no such job".
const NOT_DELAYED: readonly unknown[] = [-3, -1];

function isNotDelayed(error: unknown): boolean {
  return error instanceof Error && NOT_DELAYED.includes((error as { code?: unknown }).code);
}

/** A parked job that has not been tried: its event may go along with the one ahead. */
export interface Parked {
  id: string;
  delivery: Delivery;
  /** When it was added, ms since the epoch. */
  addedAt: number;
}

/** The jobs of these ids, up to the first that is not there yet or has a past of its own. */
export async function readParked(store: Store, ids: readonly string[]): Promise<Parked[]> {
  const backend = store.getBackend();
  const jobs = await Promise.all(ids.map((id) => backend.getJobData(id)));
  const parked = jobs.map((job, index): Parked | undefined => {
    // What has progress was dead once, or has failed in a batch: that is its own affair.
    if (job === undefined || job.attemptsMade > 0 || typeof job.progress === 'object') return undefined;
    return { id: ids[index] ?? '', delivery: JSON.parse(job.data) as Delivery, addedAt: job.timestamp };
  });
  const end = parked.indexOf(undefined);
  return parked.slice(0, end === -1 ? parked.length : end).filter((one) => one !== undefined);
}

/** Jobs whose events have left: one that cannot be removed (it just looks for its turn) finds out by itself. */
export async function removeParked(store: Store, ids: readonly string[]): Promise<void> {
  const backend = store.getBackend();
  await Promise.all(ids.map((id) => backend.remove(id, false)));
}
