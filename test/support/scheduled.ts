/** Nobody waits for nine o'clock: brings what is planned for a moment forward. */
import type { Queue } from 'bullmq';
import { expect } from 'vitest';
import type { JobData } from '../../src/delivery/queues.js';
import { scheduledJob } from '../../src/delivery/scheduled-job.js';
import { WORKSPACE } from './events.js';

/** Its moment is over then, or `atMs`. A job that is only promoted waits for the rest of its time. */
export async function bringForward(
  queue: Queue<JobData>,
  { workspace = WORKSPACE, atMs = 0 }: { workspace?: string; atMs?: number } = {},
): Promise<void> {
  const job = await scheduledJob(queue, workspace);
  expect(job).toBeDefined();
  await job?.updateData({ ...job.data, atMs });
  await job?.promote();
}
