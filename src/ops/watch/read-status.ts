/** Reads what `status` shows of Redis and of a workspace. Changes nothing. */
import { allowanceAfter } from '../../feed/api/allowance.js';
import type { BudgetLimits } from '../../feed/api/budget.js';
import type { ListName } from '../../crm/lists/lists.js';
import { ChangefeedError } from '../../kit/errors.js';
import type { ListStatus, RedisStatus, WorkspaceStatus } from './status.js';
import type { Redis } from '../../redis/client.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import { knownMs } from '../../kit/stored-time.js';
import { clockApart } from '../../redis/facts.js';
import type { Reads } from '../../redis/reads.js';
import { evicts, readEvictionPolicy, readRefusal } from '../../redis/conditions.js';
import { namedFields, type NamingOptions } from '../../feed/detect/named-fields.js';
import { nextSweepMs, type Pace } from '../../feed/list/schedule.js';
import type { Checkpoint, SweepSummary } from '../../feed/store/sweep-state.js';
import { readBudgetUse } from '../../feed/api/budget-window.js';
import { readCheckpoint, readSummary } from '../../feed/store/checkpoint.js';
import type { Keys } from '../../redis/keys.js';
import { readFailure, timesIn } from '../../feed/store/schedule.js';
import { parseState } from '../../log/state-guard.js';
import { baselineIn, discardedIn, LEARNED, learnedIn, ROWS_FIELD, rowsIn } from '../../feed/store/sweep-store.js';

export interface WatchedWorkspace {
  name: string;
  state: WorkspaceStatus['state'];
  budget: BudgetLimits;
  lists: Readonly<Record<string, WatchedList>>;
}

type WatchedList = Pace & NamingOptions & { enabled: boolean };

/** Loops read the times at least every 5 s, and the lease of a killed sweep lasts 15 s. */
const LATE_MS = 25_000;

interface View {
  reads: Reads;
  keys: Keys;
  nowMs: number;
  /** How late a list is, ms: the least that a polling process says. */
  lateMs: (workspace: string, list: ListName) => number;
  actorsIn: (workspace: string, list: ListName) => ListStatus['actors'];
}

export async function readWorkspaceStatus(
  view: View,
  { name, state: is, budget, lists }: WatchedWorkspace,
): Promise<WorkspaceStatus> {
  const { reads, keys } = view;
  const json = (await reads('get', keys.state(name))) as string | null;
  const state = json === null ? null : parseState(keys.state(name), json);
  const { since: stateSince = null, lostAt: stateLostAt = null, rewound: stateRewound = null } = state ?? {};
  const [logLength, { refusal, pausedMs, used }, listStatuses] = await Promise.all([
    reads('xlen', keys.log(name)) as Promise<number>,
    readBudgetUse({ reads, keys, workspace: name }, budget),
    Promise.all(
      Object.entries(lists).map(([list, options]) =>
        readListStatus(
          { ...view, workspace: name },
          { list, stateSince, ...options, ...(is !== 'active' && { enabled: false }) },
        ).catch((error: unknown) => unreadableList({ list, ...options }, error, isoTime(view.nowMs))),
      ),
    ),
  ]);
  const since = { stateSince, stateLostAt, stateRewound };
  const { requests: allowed } = allowanceAfter(budget, refusal);
  return { name, state: is, ...since, logLength, budget: { ...budget, pausedMs, allowed, used }, lists: listStatuses };
}

const LIST_FIELDS = [
  ...(['lastSweep', 'failure', 'lastFailure', 'checkpoint', 'baselineAt', 'discarded'] as const),
  ...([LEARNED, ROWS_FIELD] as const),
];

async function readListStatus(
  view: View & { workspace: string },
  { list, stateSince, ...pace }: WatchedList & { list: ListName; stateSince: string | null },
): Promise<ListStatus> {
  const { enabled, intervalMs } = pace;
  const { reads, keys, workspace, nowMs, lateMs, actorsIn } = view;
  const hash = keys.sweep(workspace, list);
  const [fields, stored, running] = (await Promise.all([
    reads('hmget', hash, ...LIST_FIELDS),
    reads('hlen', keys.records(workspace, list)),
    reads('exists', keys.lease(workspace, list)),
  ])) as [(string | null)[], number, number];
  const [swept = null, failure = null, before = null, checked = null, baselineAt = null] = fields;
  const [discarded = null, uses = null, rows = null] = fields.slice(5);
  const summary = readSummary(swept, view, list);
  const times = timesIn(view, list, { summary, failure });
  const lastFailure = times.failure ?? (before === null ? null : readFailure(before, hash, 'lastFailure'));
  const checkpoint = readCheckpoint(checked, view, list);
  // A list that was never swept is due from the beginning of the state.
  const scheduledMs =
    times.lastSweep === null && times.failure === null
      ? Date.parse(stateSince ?? isoTime(nowMs))
      : nextSweepMs(times, { ...pace, wakeMs: null, nowMs });
  const dueMs = Math.min(scheduledMs, nowMs - lateMs(workspace, list));
  return {
    list,
    failure: times.failure,
    lastError: lastFailure && { code: lastFailure.code, message: lastFailure.message, at: lastFailure.at },
    dueAt: enabled ? isoTime(dueMs) : null,
    late: enabled && running === 0 && nowMs - dueMs > LATE_MS,
    enabled,
    intervalMs,
    freshness: summary === null ? null : freshness(summary, nowMs),
    baselineAt: baselineIn(view, list, baselineAt),
    lastSweep: summary === null ? null : lastSweep(summary),
    silence: summary?.staleness ?? null,
    restless: summary?.restless ?? [],
    unmatched: stillNamed(summary?.unmatched ?? [], pace),
    actors: actorsIn(workspace, list),
    unreadable: summary?.unreadable ?? [],
    held: summary?.held ?? [],
    discarded: discardedIn(view, list, discarded),
    shortcuts: learnedIn(view, list, uses)?.uses ?? null,
    sweeping: checkpoint === null ? null : { ...underWay(checkpoint), running: running === 1 },
    // The stored records include deleted ones; the rows of the schema do not.
    records: rowsIn(view, list, rows) ?? stored,
  };
}

function underWay({ startedAt, pages, counts }: Checkpoint): { startedAt: string; pages: number; records: number } {
  return { startedAt, pages, records: counts.seen };
}

/** The options may have been corrected since the sweep. */
function stillNamed(unmatched: ListStatus['unmatched'], options: NamingOptions): ListStatus['unmatched'] {
  const named = unmatched.length === 0 ? [] : namedFields(options);
  return unmatched.filter((one) => named.some((two) => two.option === one.option && two.pattern === one.pattern));
}

/** Shown as failing, with the key's name: a damaged value must not hide the other lists. */
function unreadableList(
  { list, enabled, intervalMs }: WatchedList & { list: ListName },
  error: unknown,
  at: string,
): ListStatus {
  if (!(error instanceof ChangefeedError && error.code === 'CF_STATE_UNREADABLE')) throw error;
  const { code, message } = error;
  const failure = { code, message, page: null, since: at, at, attempts: 1, retryAt: at };
  const unknown = { freshness: null, baselineAt: null, lastSweep: null, dueAt: null, silence: null, sweeping: null };
  const lists = {
    restless: [],
    unmatched: [],
    actors: null,
    unreadable: [],
    held: [],
    discarded: 0,
    shortcuts: null,
    records: 0,
  };
  return { list, enabled, intervalMs, failure, lastError: { code, message, at }, late: false, ...unknown, ...lists };
}

/** Null: unknown, because a clock has stepped. */
function freshness(summary: SweepSummary, nowMs: number): ListStatus['freshness'] {
  const [startedMs, sweepMs] = [knownMs(summary.startedAt, nowMs), tookMs(summary)];
  return startedMs === null || sweepMs === null ? null : { ageMs: Math.max(0, nowMs - startedMs), sweepMs };
}

function tookMs({ startedAt, completedAt }: SweepSummary): number | null {
  const ms = Date.parse(completedAt) - Date.parse(startedAt);
  return ms < 0 ? null : ms;
}

function lastSweep(summary: SweepSummary): NonNullable<ListStatus['lastSweep']> {
  const { completedAt, pages, counts, muted = {}, longestPage = 0 } = summary;
  return { completedAt, tookMs: tookMs(summary), pages, longestPage, counts: { ...counts }, muted };
}

export async function readRedisStatus(
  redis: Redis,
  keys: Keys,
  { allowEviction, clock }: { allowEviction: boolean; clock: Clock },
): Promise<RedisStatus> {
  const [evictionPolicy, refusal, clockApartMs] = await Promise.all([
    readEvictionPolicy(redis),
    readRefusal(redis, keys.probe()),
    clockApart(redis, clock),
  ]);
  const mayEvict = evicts(evictionPolicy) && !allowEviction;
  return { evictionPolicy, mayEvict, refuses: refusal?.kind ?? null, forbids: refusal?.command ?? null, clockApartMs };
}
