import { ChangefeedError, messageOf } from '../errors.js';
import type { ListName } from '../events/lists.js';

/** The error of a sweep that stopped at a page. */
export function incompleteSweep({
  workspace,
  list,
  page,
  resumes,
  cause,
}: {
  workspace: string;
  list: ListName;
  page: number;
  /** False: the checkpoint is of no use any more. */
  resumes: boolean;
  cause: unknown;
}): ChangefeedError {
  const kept = resumes ? 'the next sweep resumes there' : 'the next sweep starts at the first page';
  return new ChangefeedError('CF_SWEEP_INCOMPLETE', {
    list,
    page,
    cause,
    resumes,
    message: `Workspace "${workspace}", list "${list}": the sweep stopped at page ${page}; what came before is kept and ${kept}. ${messageOf(cause)}`,
  });
}
