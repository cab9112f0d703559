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
