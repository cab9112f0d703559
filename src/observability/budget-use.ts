/** What the request budget was used for, and what would make the lists fresher. Pure. */
import type { Spent } from '../api/spending.js';
import { formatDuration } from '../runtime/duration.js';
import type { ListStatus, ProcessStatus, StoredWorkspace, WorkspaceStatus } from './status.js';

/** Above this share of the budget, the budget is what the lists wait for. */
const USED_UP = 0.85;
/** A list that takes more of the requests is worth a decision. */
const LARGE_SHARE = 0.4;
/** A list that is swept in this time needs no advice. */
const FAST_MS = 3_000;
/** The limit of the API as it is known (requests per second). */
const KNOWN_LIMIT = 10;

/** Adds what the processes of the workspace report. */
export function withSpending(workspace: StoredWorkspace, processes: readonly ProcessStatus[]): WorkspaceStatus {
  const { name, budget } = workspace;
  const spent = totals(processes.flatMap((one) => one.spent.filter((used) => used.workspace === name)));
  const requests = spent.reduce((sum, one) => sum + one.requests, 0);
  const share = Math.round((requests * budget.perSeconds * 1_000) / (60 * budget.requests)) / 1_000;
  const known = { ...workspace, budget: { ...budget, lastMinute: { requests, share, spent } } };
  return { ...known, advice: adviceOn(known) };
}

function totals(reported: readonly Spent[]): Spent[] {
  const total = new Map<string, Spent>();
  for (const { list, kind, requests } of reported) {
    const name = `${kind} ${list}`;
    total.set(name, { list, kind, requests: requests + (total.get(name)?.requests ?? 0) });
  }
  return [...total.values()].sort((one, other) => other.requests - one.requests);
}

/** The one change of the configuration that helps most. */
function adviceOn({ budget, lists }: Omit<WorkspaceStatus, 'advice'>): string | null {
  const slowest = slowestOf(lists);
  if (slowest === null || budget.lastMinute.requests === 0) return null;
  if (budget.lastMinute.share >= USED_UP * Math.min(1, budget.allowed / budget.requests)) return moreRequests(budget);
  const { list, scheduling, intervalMs, idleMs } = slowest;
  if (scheduling === 'fixed')
    return `remove lists.${list}.interval (${formatDuration(intervalMs ?? 0)}): the budget is not used up`;
  if (scheduling === 'idle')
    return `lower or remove lists.${list}.idle (${formatDuration(idleMs ?? 0)}): the budget is not used up`;
  return null;
}

/** The enabled list whose changes wait longest, if they wait at all. */
function slowestOf(lists: readonly ListStatus[]): ListStatus | null {
  const wait = ({ freshness, intervalMs, idleMs }: ListStatus): number =>
    Math.max(freshness?.sweepMs ?? 0, intervalMs ?? 0, idleMs ?? 0);
  const [slowest = null] = lists.filter(({ enabled }) => enabled).sort((one, other) => wait(other) - wait(one));
  return slowest === null || wait(slowest) <= FAST_MS ? null : slowest;
}

function moreRequests({ requests, perSeconds, allowed, lastMinute }: WorkspaceStatus['budget']): string {
  if (allowed < requests)
    return `another client uses the API's limit: ${allowed} of ${requests} requests per ${perSeconds} s are left; have it send fewer`;
  const limit = KNOWN_LIMIT * perSeconds;
  const raise =
    requests < limit
      ? `raise budget.requests (${requests} of the ${limit} per ${perSeconds} s known to be allowed are used)`
      : null;
  const large = largestList(lastMinute);
  const less =
    large === null
      ? 'disable lists you do not need'
      : `${large.list} takes ${Math.round(large.share * 100)} % of the requests: set lists.${large.list}.idle, or disable lists you do not need`;
  return [raise, less].filter((part) => part !== null).join('; ');
}

function largestList({
  requests,
  spent,
}: WorkspaceStatus['budget']['lastMinute']): { list: string; share: number } | null {
  const [largest] = shares(spent, requests, ({ list }) => list);
  return largest !== undefined && largest.share > LARGE_SHARE ? { list: largest.name, share: largest.share } : null;
}

/** The parts of the requests by list or by kind, the largest first. */
export function shares(
  spent: readonly Spent[],
  requests: number,
  nameOf: (spent: Spent) => string,
): { name: string; requests: number; share: number }[] {
  const byName = new Map<string, number>();
  for (const one of spent) byName.set(nameOf(one), (byName.get(nameOf(one)) ?? 0) + one.requests);
  return [...byName]
    .map(([name, count]) => ({ name, requests: count, share: count / requests }))
    .sort((one, other) => other.requests - one.requests);
}
