/** A small list is swept each second: only sweeps that matter to a person get a line, and one a minute sums up all. */
import type { ObservedTry } from '../api/one-try.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import type { SweepSummary } from '../store/sweep-state.js';

const COMPLETE = 'sweep complete';
const SUM = 'sweeps of the last minute';

export function isAboutSweeps(message: string): boolean {
  return message === COMPLETE || message === SUM;
}

/** How often the sweeps are summed up. */
const SUM_UP_MS = 60_000;
/** A list that changes all the time has a line of its own this often. The sum counts its other changes. */
const CHANGES_MS = 10_000;

interface Sum {
  sinceMs: number;
  sweeps: number;
  lists: Set<ListName>;
  changes: number;
  requests: number;
  refused: number;
}

export function createSweepLog({ workspace, log, clock }: { workspace: string; log: Log; clock: Clock }) {
  const seen = new Set<ListName>();
  /** List → when a sweep with changes last had its own line, ms. */
  const changed = new Map<ListName, number>();
  let sum = emptySum(clock.monotonic());

  const sumUp = (nowMs: number): void => {
    const { sinceMs, sweeps, lists, changes, requests, refused } = sum;
    const seconds = Math.round((nowMs - sinceMs) / 1_000);
    const facts = { workspace, sweeps, lists: lists.size, seconds, ...positive({ changes, requests, refused }) };
    log.info(facts, SUM);
    sum = emptySum(nowMs);
  };
  return {
    tried({ status }: ObservedTry): void {
      sum.requests += 1;
      if (status === 429) sum.refused += 1;
    },
    /** A sweep of the list is complete. `calledAtMs`: when this process began to read it. */
    complete(list: ListName, summary: SweepSummary, calledAtMs: number): void {
      const nowMs = clock.monotonic();
      const { sweepId, mode, pages, counts, muted, startedAt, completedAt } = summary;
      const changes = changesIn(summary);
      const startedMs = Date.parse(startedAt);
      const isOwnWork = startedMs >= calledAtMs;
      const isChange = changes > 0 && nowMs - (changed.get(list) ?? -Infinity) >= CHANGES_MS;
      const isShown = isChange || !seen.has(list) || mode === 'baseline' || !isOwnWork;
      const numbers = positive({ ...counts, beforeTheWalk: changedBeforeTheWalk(summary) });
      const facts = { workspace, list, sweepId, mode, pages, ...numbers, ...(muted && { muted }) };
      log[isShown ? 'info' : 'debug']({ ...facts, ms: Date.parse(completedAt) - startedMs }, COMPLETE);
      seen.add(list);
      if (isChange) changed.set(list, nowMs);
      sum.sweeps += 1;
      sum.lists.add(list);
      sum.changes += changes;
      if (nowMs - sum.sinceMs >= SUM_UP_MS) sumUp(nowMs);
    },
  };
}

function emptySum(sinceMs: number): Sum {
  return { sinceMs, sweeps: 0, lists: new Set(), changes: 0, requests: 0, refused: 0 };
}

/** Records of which the sweep emitted events. A quiet baseline emits none. */
function changesIn({ counts: { created, edited, refreshed, deleted } }: SweepSummary): number {
  return created + edited + refreshed + deleted;
}

/** `seen` counts the records of the walk: with these it is the sum of what became of them. */
function changedBeforeTheWalk({
  counts: { seen, deleted: _deleted, missing: _missing, ...decided },
}: SweepSummary): number {
  return Object.values(decided).reduce((sum, number) => sum + number, -seen);
}

function positive(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0));
}
