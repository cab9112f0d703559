/**
 * What a job tells of its past. Dying has two steps, leaving the lane and moving to the dead letters; between them the
 * process may be killed. So the death is written on the job first, with the number of the try it belongs to:
 *   that try not yet counted    the death is under way: finish it, do not run the handler again
 *   counted                     it was a dead letter, and somebody has it tried again: its tries count anew
 * An event that was in the batch of the one ahead and failed there has its first failure written on it in the same way:
 * when its own turn has come, that try is told to BullMQ, which alone counts tries.
 */
import type { Job } from 'bullmq';
import { parseFailedAttempt, type FailedAttempt, type RetryDecision } from './failure.js';

/** Written on the job (as its progress) when it is about to become a dead letter. */
export interface Death {
  /** BullMQ's count of tries, the last included. */
  tries: number;
  /** BullMQ's count of processes lost while handling it. */
  stalls: number;
  failure: FailedAttempt;
  /** It had been a dead letter before. */
  revived: boolean;
  /** The life it ended. */
  life: number;
}

export interface JobHistory {
  /** 1 for the first try, also for the first after a dead letter was retried. */
  attempt: number;
  /** How often a process was lost while handling it, since it last began anew. */
  stalls: number;
  /** The death under way. */
  death: FailedAttempt | null;
  /** Once dead, and tried again. */
  retried: boolean;
  /** The first try, made in the batch of the event ahead and not counted yet. */
  batchFailure: BatchFailure | null;
}

/** Written on the job (as its progress) of an event that failed behind the one ahead. */
export interface BatchFailure {
  failure: FailedAttempt;
  verdict: RetryDecision;
}

type Counted = Pick<Job, 'attemptsMade' | 'stalledCounter' | 'progress'>;

export function historyOf({ attemptsMade, stalledCounter, progress }: Counted): JobHistory {
  const death = deathOf(progress);
  if (death === undefined) {
    const ridden = attemptsMade === 0 ? riddenOf(progress) : null;
    return { attempt: attemptsMade + 1, stalls: stalledCounter, death: null, retried: false, batchFailure: ridden };
  }
  const counted = attemptsMade >= death.tries;
  return {
    attempt: counted ? attemptsMade - death.tries + 1 : attemptsMade + 1,
    stalls: counted ? stalledCounter - death.stalls : stalledCounter,
    death: counted ? null : death.failure,
    // A second death under way: its place in the lane is the one it got when it was tried again.
    retried: counted || death.revived,
    batchFailure: null,
  };
}

/** Tells each life of an event, from new or tried again to dead, from its others: 0 for the first, then growing. */
export function lifeOf({ attemptsMade, progress }: Pick<Counted, 'attemptsMade' | 'progress'>): number {
  const death = deathOf(progress);
  if (death === undefined) return 0;
  return attemptsMade >= death.tries ? death.tries : death.life;
}

export function deathAfter(job: Counted, failure: FailedAttempt): { death: Death } {
  const { retried: revived } = historyOf(job);
  return { death: { tries: job.attemptsMade + 1, stalls: job.stalledCounter, failure, revived, life: lifeOf(job) } };
}

function deathOf(progress: unknown): Death | undefined {
  if (typeof progress !== 'object' || progress === null) return undefined;
  const { death } = progress as { death?: Partial<Death> };
  if (typeof death?.tries !== 'number' || typeof death.stalls !== 'number') return undefined;
  const failure = parseFailedAttempt(JSON.stringify(death.failure));
  if (failure === undefined) return undefined;
  const life = typeof death.life === 'number' ? death.life : 0;
  return { tries: death.tries, stalls: death.stalls, failure, revived: death.revived === true, life };
}

function riddenOf(progress: unknown): BatchFailure | null {
  if (typeof progress !== 'object' || progress === null) return null;
  const { ridden } = progress as { ridden?: Partial<BatchFailure> };
  if (ridden?.verdict === undefined || parseFailedAttempt(JSON.stringify(ridden.failure)) === undefined) return null;
  return ridden as BatchFailure;
}
