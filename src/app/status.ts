/** What `status` shows: read from Redis, so it is the same in every process. */
import type { DispatchRole } from '../../workers/dispatch.js';
import { allowanceAfter } from '../api/allowance.js';
import type { ListConfig, WorkspaceConfig } from '../config/schema.js';
import { ChangefeedError } from '../errors.js';
import { withSpending } from '../observability/budget-use.js';
import { problemsOf } from '../observability/problems.js';
import type { ListStatus, Status, StoredWorkspace } from '../observability/status.js';
import { isoTime } from '../runtime/clock.js';
import { createProcessRegistry } from '../state/process-registry.js';
import { readRedisStatus, readWorkspaceStatus } from '../state/status.js';
import { nextSweepMs } from '../sweep/schedule.js';
import type { AppContext } from './context.js';
import type { Workspaces } from './workspaces.js';

export async function readStatus(context: AppContext, workspaces: Workspaces, dispatch: DispatchRole): Promise<Status> {
  const { config, redis, keys, clock } = context;
  const view = { redis, keys, nowMs: clock.now(), nextMs: nextSweepMs, allowance: allowanceAfter };
  const [redisStatus, stored, subscriptions, processes] = await Promise.all([
    readRedisStatus(redis, keys, config.redis),
    Promise.all(workspaces.all().map((workspace) => readWorkspace(view, workspace.config))),
    dispatch.dispatcher.statistics(),
    createProcessRegistry(redis, keys).list(),
  ]);
  const at = isoTime(view.nowMs);
  const workspaceStatuses = stored.map((workspace) => withSpending(workspace, processes));
  const facts = { at, redis: redisStatus, workspaces: workspaceStatuses, subscriptions, processes };
  return { ...facts, problems: problemsOf(facts) };
}

/** A damaged value of one list must not hide the other lists: that list is shown as failing, with the name of the key. */
async function readWorkspace(
  view: Parameters<typeof readWorkspaceStatus>[0],
  config: WorkspaceConfig,
): Promise<StoredWorkspace> {
  const failed = (error: unknown): ChangefeedError => {
    if (error instanceof ChangefeedError && error.code === 'CF_STATE_UNREADABLE') return error;
    throw error;
  };
  const read = (lists: Readonly<Record<string, ListConfig>>): Promise<StoredWorkspace> =>
    readWorkspaceStatus(view, { ...config, lists });
  const whole = await read(config.lists).catch(failed);
  if (!(whole instanceof ChangefeedError)) return whole;
  const lists = Object.entries(config.lists).map(async ([name, list]) => {
    const one = await read({ [name]: list }).catch(failed);
    return one instanceof ChangefeedError ? [unreadableList(list, one, isoTime(view.nowMs))] : one.lists;
  });
  return { ...(await read({})), lists: (await Promise.all(lists)).flat() };
}

function unreadableList(
  { descriptor, enabled, intervalMs }: ListConfig,
  error: ChangefeedError,
  at: string,
): ListStatus {
  const { code, message } = error;
  return {
    list: descriptor.name,
    enabled,
    intervalMs,
    freshness: null,
    baselineAt: null,
    lastSweep: null,
    failure: { code, message, page: null, since: at, at, attempts: 1, retryAt: at },
    lastError: { code, message, at },
    dueAt: null,
    late: false,
    silence: null,
    unreadable: [],
    held: [],
    sweeping: null,
    shortcuts: null,
    records: 0,
  };
}
