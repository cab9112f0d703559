/** Logs each problem when it begins and ends, and reports it by an event: once, although every process sees it. */
import { compileTypePattern, readsWorkspace, type Selection } from '../../events/pattern.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import type { NoticeStore } from '../../log/notices.js';
import { isError, nameOf } from './problems.js';
import type { Problem, Status } from './status.js';

interface SentinelDeps {
  status: () => Promise<Status>;
  notices: NoticeStore;
  /** The subscriptions of the configuration: a problem of all workspaces is reported where they read it. */
  subscriptions: readonly Selection[];
  /** This process has logged the cause of the problem, and will log its end. */
  isExplained: (problem: Problem) => boolean;
  log: Log;
  clock: Clock;
}

/** How often the status is read: a problem must be logged and reported within a minute. */
const INTERVAL_MS = 10_000;
/** A problem that no process has seen for this time is over. */
const OVER_MS = 4 * INTERVAL_MS;

/** Must be found twice: after an outage all is late for a moment, and one list's failure may concern all lists. */
const MUST_LAST: ReadonlySet<Problem['kind']> = new Set([
  'role.missing',
  'list.late',
  'process.overloaded',
  'sweep.failed',
  'workspace.unauthorized',
  'delivery.late',
]);

/** @returns one turn of the sentinel's loop */
export function createSentinel(deps: SentinelDeps): () => Promise<number> {
  const { status, notices, subscriptions, isExplained, log, clock } = deps;
  const logged = new Map<string, Problem>();
  let foundBefore: ReadonlySet<string> | undefined;
  return async () => {
    const now = await status();
    const names = now.workspaces.map(({ name }) => name);
    const found = new Map(now.problems.map((problem) => [nameOf(problem), problem]));
    const before = foundBefore;
    foundBefore = new Set(found.keys());
    // Found first, it was stored before this process began and may be over: the next turn tries its cause again.
    if (before === undefined) return INTERVAL_MS;
    const current = new Map([...found].filter(([name, { kind }]) => !MUST_LAST.has(kind) || before.has(name)));
    for (const [name, problem] of current) {
      if (logged.has(name) || isExplained(problem)) continue;
      logged.set(name, problem);
      const facts = { ...factsOf(problem), since: problem.since, detail: problem.message };
      log[isError(problem) ? 'error' : 'warn'](facts, 'problem');
    }
    for (const [name, problem] of logged) {
      if (current.has(name)) continue;
      logged.delete(name);
      log.info(factsOf(problem), 'problem over');
    }
    const nowMs = clock.now();
    for (const problem of current.values()) {
      const concerned = problem.workspace === null ? logsFor(problem, names, subscriptions) : [problem.workspace];
      await Promise.all(
        concerned.map((workspace) => notices.raise({ ...problem, workspace, at: isoTime(nowMs) }, nowMs)),
      );
    }
    await Promise.all(names.map((name) => notices.endUnseen(name, { sinceMs: nowMs - OVER_MS, nowMs })));
    return INTERVAL_MS;
  };
}

/** A problem of all workspaces is an event in one log, and in a second only for a subscription that does not read the first. */
function logsFor({ kind }: Problem, names: readonly string[], subscriptions: readonly Selection[]): string[] {
  const logs = names.slice(0, 1);
  for (const one of subscriptions) {
    const isSelected = one.on.some((pattern) => compileTypePattern(pattern)(`changefeed.${kind}`));
    if (!isSelected || logs.some((name) => readsWorkspace(one, name))) continue;
    logs.push(...names.filter((name) => readsWorkspace(one, name)).slice(0, 1));
  }
  return logs;
}

function factsOf({ kind, workspace, subject }: Problem): object {
  return { problem: kind, ...(workspace !== null && { workspace }), subject };
}
