/**
 * The history that a job carries. Becoming a dead letter has two steps, leaving the ordering group and moving to the dead
 * letters, and the process may be killed between them. So the death is first written on the job, with the number of the
 * attempt it belongs to:
 *   attempt not counted yet   the job is about to become a dead letter: finish that, do not call the handler again
 *   attempt counted           it was a dead letter and has been retried: its attempts count from 1 again
 *
 * An event that fails in a batch behind the head of its group has this first failure written on its job in the same way. It
 * is reported to BullMQ, which alone counts attempts, when the event has its own turn.
 */
import type { Job } from 'bullmq';
import { parseFailedAttempt, type DecidedFailure, type FailedAttempt } from './failure.js';

/** Written on the job (as its progress) when it is about to become a dead letter. */
export interface Death {
  /** BullMQ's count of attempts, including the last one. */
  attempts: number;
  /** BullMQ's count of processes lost while handling it. */
  stalls: number;
  failure: FailedAttempt;
  /** It had been a dead letter before. */
  retried: boolean;
  /** The life that ended. */
  life: number;
}

export interface JobHistory {
  /** 1 for the first attempt, also for the first one after a dead letter was retried. */
  attempt: number;
  /** How often a process was lost while handling it, since the event was new or last retried. */
  stalls: number;
  /** The last failure, when the job is about to become a dead letter. */
  death: FailedAttempt | null;
  /** It was a dead letter and has been retried. */
  retried: boolean;
  /** Its first attempt, made in the batch of an event ahead and not counted by BullMQ yet. */
  batchFailure: DecidedFailure | null;
}

type Counted = Pick<Job, 'attemptsMade' | 'stalledCounter' | 'progress'>;

export function historyOf({ attemptsMade, stalledCounter, progress }: Counted): JobHistory {
  const death = deathOf(progress);
  if (death === undefined) {
    const batchFailure = attemptsMade === 0 ? batchFailureOf(progress) : null;
    return { attempt: attemptsMade + 1, stalls: stalledCounter, death: null, retried: false, batchFailure };
  }
  const counted = attemptsMade >= death.attempts;
  return {
    attempt: counted ? attemptsMade - death.attempts + 1 : attemptsMade + 1,
    stalls: counted ? stalledCounter - death.stalls : stalledCounter,
    death: counted ? null : death.failure,
    // A second death not counted yet: its position in the group is the one it got when it was retried.
    retried: counted || death.retried,
    batchFailure: null,
  };
}

/** The number of the event's life, which lasts from new or retried until dead: 0 for the first, then growing. */
export function lifeOf({ attemptsMade, progress }: Pick<Counted, 'attemptsMade' | 'progress'>): number {
  const death = deathOf(progress);
  if (death === undefined) return 0;
  return attemptsMade >= death.attempts ? death.attempts : death.life;
}

export function deathAfter(job: Counted, failure: FailedAttempt): { death: Death } {
  const { retried } = historyOf(job);
  const { attemptsMade, stalledCounter: stalls } = job;
  return { death: { attempts: attemptsMade + 1, stalls, failure, retried, life: lifeOf(job) } };
}

function deathOf(progress: unknown): Death | undefined {
  if (typeof progress !== 'object' || progress === null) return undefined;
  const { death } = progress as { death?: Partial<Death> };
  if (typeof death?.attempts !== 'number' || typeof death.stalls !== 'number') return undefined;
  const failure = parseFailedAttempt(JSON.stringify(death.failure));
  if (failure === undefined) return undefined;
  const life = typeof death.life === 'number' ? death.life : 0;
  return { attempts: death.attempts, stalls: death.stalls, failure, retried: death.retried === true, life };
}

function batchFailureOf(progress: unknown): DecidedFailure | null {
  if (typeof progress !== 'object' || progress === null) return null;
  const { batchFailure: found } = progress as { batchFailure?: Partial<DecidedFailure> };
  if (found?.decision === undefined || parseFailedAttempt(JSON.stringify(found.failure)) === undefined) return null;
  return found as DecidedFailure;
}
