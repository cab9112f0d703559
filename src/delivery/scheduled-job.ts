/**
 * The job of what a subscription says or does at a time: a digest, a report, or the comparison of a copy. Each workspace has one at a time, however many
 * processes there are: BullMQ ignores a job whose id it has, and the job is removed at its end. Its moment is by the clock of Redis, when it is planned and
 * when it runs: a process whose clock is ahead does nothing early, and one whose clock is behind plans no moment that is over.
 * The digest of the minute (`mostPerMinute`) has no moment: it waits for the rest of the minute.
 */
import { Job, type JobsOptions, type MinimalQueue, type Queue } from 'bullmq';
import { JOB_OPTIONS } from './deliveries.js';
import type { Schedule, Subscription } from './handlers/handler.js';
import { nextMoment } from './moments.js';
import type { JobData } from './queues.js';
import type { DispatchContext } from './stores.js';

const SCHEDULED = 'scheduled';

const idIn = (workspace: string): string => `${SCHEDULED}.${workspace}`;

/** It is no delivery. */
export function isScheduled({ name }: Job<JobData>): boolean {
  return name === SCHEDULED;
}

export function scheduleOf({ digest, report, verify }: Subscription): Schedule | undefined {
  return digest ?? report?.schedule ?? verify;
}

export function scheduledJob(queue: Queue<JobData>, workspace: string) {
  return queue.getJob(idIn(workspace));
}

/**
 * Plans the next moment. A job that has not been attempted gives way to an earlier moment, never to a later one: processes with different
 * schedules agree on the earlier one, and the job of neither is lost.
 */
export async function planNext(
  queue: Queue<JobData>,
  { workspace, schedule }: { workspace: string; schedule: Schedule },
  { log, timeZoneOf }: Pick<DispatchContext, 'log' | 'timeZoneOf'>,
): Promise<void> {
  const nowMs = await log.serverMs();
  const atMs = nextMoment(schedule, nowMs, timeZoneOf(workspace));
  const job = await scheduledJob(queue, workspace);
  if (job !== undefined) {
    const { atMs: plannedMs = 0 } = job.data;
    if (plannedMs <= atMs || job.attemptsMade > 0 || !(await job.isDelayed())) return;
    await queue.remove(idIn(workspace));
  }
  // The job becomes due at the moment, whatever the clock of this process says.
  await add(queue, { workspace, atMs }, { timestamp: nowMs, delay: atMs - nowMs });
}

/** The digest of the minute, which ends in so long, ms. */
export async function planDigestIn(queue: Queue<JobData>, workspace: string, waitMs: number): Promise<void> {
  await add(queue, { workspace }, { delay: Math.max(0, waitMs) });
}

/** The log id is that of the end of a digest: it gets one when it begins. */
async function add(queue: MinimalQueue, about: Pick<JobData, 'workspace' | 'atMs'>, options: JobsOptions) {
  const data: JobData = { ...about, group: null, kind: 'logged', logId: '' };
  const jobId = idIn(about.workspace);
  await Job.create(queue, SCHEDULED, data, { ...JOB_OPTIONS, ...options, jobId, removeOnComplete: true });
}
