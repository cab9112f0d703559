/** A page that could not be read ends the sweep, with nothing of the page written. The next one resumes there if it can. */
import type { ListName } from '../../crm/lists/lists.js';
import { ChangefeedError, messageOf } from '../../kit/errors.js';
import type { FeedList } from './list.js';

/** @throws ChangefeedError CF_SWEEP_INCOMPLETE; CF_LEASE_LOST, CF_STATE_LOST; the signal's reason */
export async function orIncomplete<Result>(list: FeedList, work: () => Promise<Result>): Promise<Result> {
  const { workspace } = list.deps;
  const { next, checkpoint } = list;
  try {
    return await work();
  } catch (cause) {
    list.options.signal.throwIfAborted();
    if (cause instanceof ChangefeedError && ['CF_LEASE_LOST', 'CF_STATE_LOST'].includes(cause.code)) throw cause;
    // A survey has moved nothing: the walk resumes at the page that asked.
    const restarts = list.survey === null && mustRestart(cause, checkpoint.cursor);
    if (restarts) await list.abandon();
    else if (list.survey === null) await commitSkipped(list);
    const page = next?.page ?? checkpoint.pages;
    const { sweepId } = checkpoint;
    throw incompleteSweep({ workspace, list: list.name, sweepId, page, resumes: !restarts, cause });
  }
}

/** A cursor loop, or a cursor that the API no longer accepts, cannot be resumed. */
function mustRestart(error: unknown, cursor: string | null): boolean {
  if (!(error instanceof ChangefeedError)) return false;
  return error.code === 'CF_CURSOR_LOOP' || (error.code === 'CF_REQUEST_REFUSED' && cursor !== null);
}

/** Lets the next sweep resume at the page that failed. Without it, that sweep reads the skipped pages once more. */
async function commitSkipped({ name, rules, deps: { store }, options: { token }, checkpoint, visited }: FeedList) {
  const followed = visited.takeFollowed();
  // The next cursor of the page that failed is left out.
  const cursors = followed.slice(0, followed.indexOf(checkpoint.cursor ?? '') + 1);
  if (cursors.length === 0) return;
  // If Redis is the reason that the page failed, this fails too, and the first reason is reported.
  const step = { token, masks: rules.masks, checkpoint, writes: [], cursors };
  await store.commit(name, step).catch(() => undefined);
}

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
