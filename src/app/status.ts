/** What `status` shows: read from Redis, so it is the same in every process. */
import type { DispatchRole } from '../../workers/dispatch.js';
import { allowanceAfter } from '../api/allowance.js';
import { problemsOf } from '../observability/problems.js';
import type { Status } from '../observability/status.js';
import { isoTime } from '../runtime/clock.js';
import { createProcessRegistry } from '../state/process-registry.js';
import { readRedisStatus, readWorkspaceStatus } from '../state/status.js';
import { nextSweepMs } from '../sweep/schedule.js';
import type { AppContext } from './context.js';
import type { Workspaces } from './workspaces.js';

export async function readStatus(context: AppContext, workspaces: Workspaces, dispatch: DispatchRole): Promise<Status> {
  const { config, redis, keys, clock } = context;
  const view = { redis, keys, nowMs: clock.now(), nextMs: nextSweepMs, allowance: allowanceAfter };
  const [redisStatus, workspaceStatuses, subscriptions, unconfigured, processes] = await Promise.all([
    readRedisStatus(redis, keys, config.redis),
    Promise.all(
      workspaces
        .all()
        .map(({ config, lists }) => readWorkspaceStatus(view, { ...config, lists: Object.fromEntries(lists) })),
    ),
    dispatch.dispatcher.statistics(),
    dispatch.dispatcher.leftBehind(),
    createProcessRegistry(redis, keys).list(),
  ]);
  const at = isoTime(view.nowMs);
  const facts = { at, redis: redisStatus, workspaces: workspaceStatuses, subscriptions, unconfigured, processes };
  return { ...facts, problems: problemsOf(facts) };
}
