/**
 * The feed watches itself: every few seconds a process that runs roles reads the status, logs each problem when it begins and
 * when it ends, and reports it by an event in the log of the workspace. Several processes see the same problem; the store lets
 * one of them report it.
 */
import type { NoticeDraft } from '../events/notices.js';
import type { Clock } from '../runtime/clock.js';
import { isoTime } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { isError, nameOf } from './problems.js';
import type { Problem, Status } from './status.js';

export interface NoticeStore {
  /** Reports a problem by an event, unless it was reported and lasts since. */
  raise(draft: Omit<NoticeDraft, 'sequence'>, nowMs: number): Promise<'raised' | 'known'>;
  /** Takes problems that no process has seen since a time for over: should they come back, they are reported again. */
  forgetUnseen(workspace: string, beforeMs: number): Promise<void>;
}

export interface SentinelDeps {
  status: () => Promise<Status>;
  notices: NoticeStore;
  log: Log;
  clock: Clock;
}

/** Between two looks at the status. A problem is logged, shown and reported well within a minute. */
export const SENTINEL_MS = 10_000;
/** A problem that no process has seen for so long is over. */
const OVER_MS = 4 * SENTINEL_MS;

/** @returns one look: a turn of the sentinel's loop */
export function createSentinel({ status, notices, log, clock }: SentinelDeps): () => Promise<number> {
  let known = new Map<string, Problem>();
  let foundBefore: ReadonlySet<string> = new Set();
  return async () => {
    const now = await status();
    const names = now.workspaces.map(({ name }) => name);
    const found = new Map(now.problems.map((problem) => [nameOf(problem), problem]));
    // Where Redis has lost its state, processes that live are missing until they report themselves again.
    const current = new Map([...found].filter(([name, { kind }]) => kind !== 'role.missing' || foundBefore.has(name)));
    foundBefore = new Set(found.keys());
    for (const [name, problem] of current) if (!known.has(name)) logBegin(log, problem);
    for (const [name, problem] of known) if (!current.has(name)) log.info(factsOf(problem), 'problem over');
    known = current;
    const nowMs = clock.now();
    for (const problem of current.values()) {
      // Without a workspace it concerns all of them.
      for (const workspace of problem.workspace === null ? names : [problem.workspace])
        await notices.raise({ ...problem, workspace, at: isoTime(nowMs) }, nowMs);
    }
    for (const workspace of names) await notices.forgetUnseen(workspace, nowMs - OVER_MS);
    return SENTINEL_MS;
  };
}

function logBegin(log: Log, problem: Problem): void {
  const facts = { ...factsOf(problem), since: problem.since, detail: problem.message };
  if (isError(problem)) log.error(facts, 'problem');
  else log.warn(facts, 'problem');
}

function factsOf({ kind, workspace, subject }: Problem): object {
  return { problem: kind, ...(workspace !== null && { workspace }), subject };
}
