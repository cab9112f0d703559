/**
 * The job of a digest, a report, or the comparison of a copy. A reader adds it, delayed until its moment. BullMQ ignores a job whose id it has: the id of a digest
 * is the workspace's, so there is one at a time, in whatever state and however many processes; its job is removed at its end. The
 * id of a report has its moment, and its job is kept, so that a process whose clock is behind adds none for a moment that is over.
 * The digest of the minute (`mostPerMinute`) has no moment of its own: it waits for the rest of the minute.
 */
import { Job, type JobsOptions, type MinimalQueue, type Queue } from 'bullmq';
import { isInFuture } from '../kit/stored-time.js';
import { JOB_OPTIONS } from './deliveries.js';
import type { JobData } from './queues.js';

/** The window of `mostPerMinute`. */
export const ALLOWANCE_MS = 60_000;

const DIGEST = 'digest';
const REPORT = 'report';
export const VERIFY = 'verify';

interface Planned {
  workspace: string;
  /** ms */
  atMs: number;
  nowMs: number;
}

/** The names of jobs that are no deliveries. */
export const DIGEST_JOBS: ReadonlySet<string> = new Set([DIGEST, REPORT, VERIFY]);

export function isDigestPlanned(queue: Queue<JobData>, workspace: string) {
  return digestJob(queue, workspace).then((job) => job !== undefined);
}

export function digestJob(queue: Queue<JobData>, workspace: string) {
  return queue.getJob(`${DIGEST}.${workspace}`);
}

/** What is done at a time of day, whatever the log has. */
export type Timed = typeof REPORT | typeof VERIFY;

export function timedJob(queue: Queue<JobData>, name: Timed, workspace: string, atMs: number) {
  return queue.getJob(timedId(name, workspace, atMs));
}

function timedId(name: Timed, workspace: string, atMs: number): string {
  return `${name}.${workspace}.${atMs}`;
}

/** Such a job waits for its moment, not for as long as was computed when it was planned: BullMQ has it under this moment. */
export function isMomentToCome({ name, data: { atMs = 0 } }: Job<JobData>, nowMs: number): boolean {
  return DIGEST_JOBS.has(name) && atMs > nowMs;
}

/** One that was planned for a later time than now and has not been attempted gives way: the option was changed. */
export async function planDigest(queue: Queue<JobData>, planned: Planned): Promise<void> {
  const job = await digestJob(queue, planned.workspace);
  if (job === undefined) return addDigest(queue, planned.workspace, planned.atMs - planned.nowMs, planned.atMs);
  const { atMs = 0 } = job.data;
  const isOther = atMs !== planned.atMs && isInFuture(atMs, planned.nowMs) && job.attemptsMade === 0;
  if (isOther && (await job.isDelayed())) await queue.remove(job.id ?? '');
}

/** The digest of the minute, which ends in so long, ms. */
export async function planDigestIn(queue: Queue<JobData>, workspace: string, waitMs: number): Promise<void> {
  await addDigest(queue, workspace, waitMs);
}

export async function planTimed(
  queue: Queue<JobData>,
  name: Timed,
  { workspace, atMs, nowMs }: Planned,
): Promise<void> {
  await add(queue, name, jobData(workspace, atMs), { jobId: timedId(name, workspace, atMs), delay: atMs - nowMs });
}

async function addDigest(queue: MinimalQueue, workspace: string, delay: number, atMs?: number): Promise<void> {
  const jobId = `${DIGEST}.${workspace}`;
  await add(queue, DIGEST, jobData(workspace, atMs), { jobId, delay, removeOnComplete: true });
}

/** The log id is that of its end: it gets one when it begins. */
function jobData(workspace: string, atMs: number | undefined): JobData {
  return { workspace, group: null, kind: 'logged', logId: '', ...(atMs !== undefined && { atMs }) };
}

async function add(queue: MinimalQueue, name: string, data: JobData, options: JobsOptions & { delay: number }) {
  await Job.create(queue, name, data, { ...JOB_OPTIONS, ...options, delay: Math.max(0, options.delay) });
}
