/** Reads what the status shows of a workspace. Only looks, changes nothing. */
import type { Redis } from 'ioredis';
import type { BudgetLimits } from '../api/budget.js';
import { ROWS } from '../detect/schema.js';
import { LIST_NAMES, type ListName } from '../events/lists.js';
import type { ListStatus, WorkspaceStatus } from '../observability/status.js';
import type { SweepSummary } from '../sweep/store.js';
import type { Keys } from './keys.js';
import { loadSweep } from './sweep-store.js';

export interface WatchedWorkspace {
  name: string;
  budget: BudgetLimits;
  lists: Readonly<Record<ListName, { enabled: boolean; intervalMs: number }>>;
}

export async function readWorkspaceStatus(
  redis: Redis,
  keys: Keys,
  { name, budget, lists }: WatchedWorkspace,
): Promise<WorkspaceStatus> {
  const [logLength, pausedMs, listStatuses] = await Promise.all([
    redis.xlen(keys.log(name)),
    redis.pttl(keys.budgetPause(name)),
    Promise.all(LIST_NAMES.map((list) => readListStatus(redis, keys, name, { list, ...lists[list] }))),
  ]);
  return { name, logLength, budget: { ...budget, pausedMs: Math.max(0, pausedMs) }, lists: listStatuses };
}

async function readListStatus(
  redis: Redis,
  keys: Keys,
  workspace: string,
  { list, enabled, intervalMs }: Pick<ListStatus, 'list' | 'enabled' | 'intervalMs'>,
): Promise<ListStatus> {
  const [{ checkpoint, state }, remembered, rows, running] = await Promise.all([
    loadSweep(redis, keys, workspace, list),
    redis.hlen(keys.records(workspace, list)),
    redis.hget(keys.sweep(workspace, list), `schema ${ROWS}`),
    redis.exists(keys.lease(workspace, list)),
  ]);
  return {
    list,
    enabled,
    intervalMs,
    baselineAt: state.baselineAt,
    lastSweep: state.lastSweep === null ? null : lastSweep(state.lastSweep),
    silence: state.lastSweep?.silence ?? null,
    heldRemovals: heldRemovals(state.lastSweep),
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
  const held = summary?.held;
  return held === undefined ? null : { count: held.count, of: held.of, since: held.at };
}
