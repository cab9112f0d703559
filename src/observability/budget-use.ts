/** What the request budget was used for, and what would make the lists fresher. Pure. */
import type { Spent } from '../api/spending.js';
import { formatDuration } from '../runtime/duration.js';
import type { Advice, ListStatus, ProcessStatus, StoredWorkspace, WorkspaceStatus } from './status.js';

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
  const status = { ...workspace, budget: { ...budget, lastMinute: { requests, share, spent } } };
  return { ...status, advice: adviceOn(status) };
}

function totals(reported: readonly Spent[]): Spent[] {
  const total = new Map<string, Spent>();
  for (const { list, kind, requests } of reported) {
    const name = `${kind} ${list}`;
    total.set(name, { list, kind, requests: requests + (total.get(name)?.requests ?? 0) });
  }
  return [...total.values()].sort((one, other) => other.requests - one.requests);
}

/** In English, for the command line. */
export function adviceText(advice: readonly Advice[]): string {
  return advice.map(textOf).join('; ');
}

function textOf(one: Advice): string {
  switch (one.do) {
    case 'raise-budget':
      return `raise budget.requests (${one.requests} of the ${one.limit} requests per ${one.perSeconds} s that the API is known to allow)`;
    case 'slow-list':
      return `set lists.${one.list}.interval (this list takes ${Math.round(one.share * 100)} % of the requests)`;
    case 'disable-lists':
      return 'disable lists you do not need';
    case 'check-other-client':
      return `let the other client of the API send fewer requests (${one.allowed} of ${one.requests} per ${one.perSeconds} s are left)`;
    case 'lower-interval':
      return `lower or remove lists.${one.list}.interval (${formatDuration(one.ms)}): the budget is not used up`;
  }
}

/** The change of the configuration that helps most; empty when there is none. */
function adviceOn({ budget, lists }: Omit<WorkspaceStatus, 'advice'>): Advice[] {
  const slowest = slowestOf(lists);
  if (slowest === null || budget.lastMinute.requests === 0) return [];
  if (budget.lastMinute.share >= USED_UP * Math.min(1, budget.allowed / budget.requests)) return moreRequests(budget);
  const { list, intervalMs } = slowest;
  return intervalMs === null ? [] : [{ do: 'lower-interval', list, ms: intervalMs }];
}

/** The enabled list whose changes wait longest, if they wait at all. */
function slowestOf(lists: readonly ListStatus[]): ListStatus | null {
  const wait = ({ freshness, intervalMs }: ListStatus): number => Math.max(freshness?.sweepMs ?? 0, intervalMs ?? 0);
  const [slowest = null] = lists.filter(({ enabled }) => enabled).sort((one, other) => wait(other) - wait(one));
  return slowest === null || wait(slowest) <= FAST_MS ? null : slowest;
}

function moreRequests({ requests, perSeconds, allowed, lastMinute }: WorkspaceStatus['budget']): Advice[] {
  if (allowed < requests) return [{ do: 'check-other-client', allowed, requests, perSeconds }];
  const limit = KNOWN_LIMIT * perSeconds;
  const large = largestList(lastMinute);
  return [
    ...(requests < limit ? [{ do: 'raise-budget', requests, limit, perSeconds } as const] : []),
    ...(large === null ? [] : [{ do: 'slow-list', ...large } as const]),
    { do: 'disable-lists' },
  ];
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
