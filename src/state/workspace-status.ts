/** Reads what the status shows of a workspace. Only looks, changes nothing. */
import type { Redis } from 'ioredis';
import type { BudgetLimits } from '../api/budget.js';
import { ROWS } from '../detect/schema.js';
import { LIST_NAMES, type ListName } from '../events/lists.js';
import type { ListStatus, WorkspaceStatus } from '../observability/status.js';
import { isoTime } from '../runtime/clock.js';
import type { nextSweepMs } from '../sweep/schedule.js';
import type { SweepSummary } from '../sweep/store.js';
import type { Keys } from './keys.js';
import { timesFrom } from './schedule.js';
import { readState } from './state-guard.js';
import { loadSweep } from './sweep-store.js';

export interface WatchedWorkspace {
  name: string;
  budget: BudgetLimits;
  lists: Readonly<Record<ListName, { enabled: boolean; intervalMs: number }>>;
}

/** A list that is due is swept within this, or it is late: loops read the times every 2 s, and a killed sweep's lease lasts 15 s. */
const LATE_MS = 25_000;

interface Place {
  redis: Redis;
  keys: Keys;
  workspace: string;
  nowMs: number;
  /** When a list is due. */
  nextMs: typeof nextSweepMs;
}

export async function readWorkspaceStatus(
  view: Omit<Place, 'workspace'>,
  { name, budget, lists }: WatchedWorkspace,
): Promise<WorkspaceStatus> {
  const { redis, keys } = view;
  const place = { ...view, workspace: name };
  const [state, logLength, pausedMs, listStatuses] = await Promise.all([
    readState(redis, keys, name),
    redis.xlen(keys.log(name)),
    redis.pttl(keys.budgetPause(name)),
    Promise.all(LIST_NAMES.map((list) => readListStatus(place, { list, ...lists[list] }))),
  ]);
  const since = { stateSince: state?.since ?? null, stateLostAt: state?.lostAt ?? null };
  return { name, ...since, logLength, budget: { ...budget, pausedMs: Math.max(0, pausedMs) }, lists: listStatuses };
}

async function readListStatus(
  { redis, keys, workspace, nowMs, nextMs }: Place,
  { list, enabled, intervalMs }: Pick<ListStatus, 'list' | 'enabled' | 'intervalMs'>,
): Promise<ListStatus> {
  const [identity, { checkpoint, state }, [summary = null, failed = null], remembered, rows, running] =
    await Promise.all([
      readState(redis, keys, workspace),
      loadSweep(redis, keys, workspace, list),
      redis.hmget(keys.sweep(workspace, list), 'lastSweep', 'failure'),
      redis.hlen(keys.records(workspace, list)),
      redis.hget(keys.sweep(workspace, list), `schema ${ROWS}`),
      redis.exists(keys.lease(workspace, list)),
    ]);
  const times = timesFrom(summary, failed);
  // A list that was never swept is due since there is a state.
  const dueMs =
    times.lastSweep === null && times.failure === null
      ? Date.parse(identity?.since ?? isoTime(nowMs))
      : nextMs(times, { intervalMs, wakeMs: null, nowMs });
  return {
    list,
    failure: times.failure,
    dueAt: enabled ? isoTime(dueMs) : null,
    late: enabled && running === 0 && nowMs - dueMs > LATE_MS,
    enabled,
    intervalMs,
    baselineAt: state.baselineAt,
    lastSweep: state.lastSweep === null ? null : lastSweep(state.lastSweep),
    silence: state.lastSweep?.staleness ?? null,
    heldRemovals: heldRemovals(state.lastSweep),
    heldCreations: heldCreations(state.lastSweep),
    sweeping:
      checkpoint === null
        ? null
        : {
            startedAt: checkpoint.startedAt,
            pages: checkpoint.pages,
            records: checkpoint.counts.seen,
            running: running === 1,
          },
    // Of records that are gone something is remembered too; the tally of the schema leaves them out.
    records: rows === null ? remembered : Number(rows),
  };
}

function lastSweep(summary: SweepSummary): NonNullable<ListStatus['lastSweep']> {
  const { startedAt, completedAt, pages, counts, muted = {} } = summary;
  return { completedAt, tookMs: Date.parse(completedAt) - Date.parse(startedAt), pages, counts: { ...counts }, muted };
}

function heldRemovals(summary: SweepSummary | null): ListStatus['heldRemovals'] {
  const held = summary?.heldRemovals;
  return held === undefined ? null : { count: held.count, of: held.of, since: held.at };
}

function heldCreations(summary: SweepSummary | null): ListStatus['heldCreations'] {
  const held = summary?.heldCreations;
  if (held === undefined) return null;
  const { at: since, ...facts } = held;
  return { ...facts, since };
}
