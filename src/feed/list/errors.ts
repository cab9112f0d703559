/** The errors with which a sweep of a list ends. */
import type { ListName } from '../../crm/lists/lists.js';
import { ChangefeedError, messageOf } from '../../kit/errors.js';
import type { CommitResult } from '../store/sweep-state.js';

export function incompleteSweep({
  workspace,
  list,
  sweepId,
  page,
  resumes,
  cause,
}: {
  workspace: string;
  list: ListName;
  /** Undefined before the sweep has begun. */
  sweepId?: string;
  page: number;
  /** False: the checkpoint can no longer be used. */
  resumes: boolean;
  cause: unknown;
}): ChangefeedError {
  const next = resumes ? 'the next sweep resumes there' : 'the next sweep starts at the first page';
  return new ChangefeedError('CF_SWEEP_INCOMPLETE', {
    list,
    sweepId,
    page,
    cause,
    resumes,
    message: `Workspace "${workspace}", list "${list}": the sweep stopped at page ${page}. Earlier pages are kept; ${next}. ${messageOf(cause)}`,
  });
}

export function leaseLost(list: ListName): ChangefeedError {
  return new ChangefeedError('CF_LEASE_LOST', {
    list,
    message:
      `List "${list}": this process lost the list's lease, because it or Redis did not answer for longer than the lease lasts. ` +
      `The process that gets the next lease continues the sweep. Nothing was written twice.`,
  });
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
export function expectCommitted(list: ListName, result: CommitResult): void {
  if (result.outcome === 'fenced') throw leaseLost(list);
  if (result.outcome === 'lost') throw stateLost(list);
}

function stateLost(list: ListName): ChangefeedError {
  return new ChangefeedError('CF_STATE_LOST', {
    list,
    message: `List "${list}": its records are gone from Redis (evicted or deleted). Nothing was reported as new: the next sweep takes a new baseline without events. Changes since the last complete sweep yield no events.`,
  });
}
