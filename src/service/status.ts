/** What `status` shows: read from Redis, so it is the same in every process. */
import type { DispatchRole } from '../../workers/dispatch.js';
import type { ListName } from '../crm/lists/lists.js';
import { problemsOf } from '../ops/watch/problems.js';
import type { Status } from '../ops/watch/status.js';
import { isoTime, type Clock } from '../kit/clock.js';
import { keptFor } from '../kit/gather.js';
import { createProcessRegistry } from '../redis/process-registry.js';
import { createReads } from '../redis/reads.js';
import { readRedisStatus, readWorkspaceStatus } from '../ops/watch/read-status.js';
import type { AppContext } from '../../workers/context.js';
import type { Workspaces } from '../../workers/workspaces.js';

/** Several monitors, everyone who may ask, and the search for problems cause one read of Redis. */
const FRESH_MS = 2_000;

export interface ObservedStatus {
  now: () => Promise<Status>;
  /** Of the last seconds. */
  read: () => Promise<Status>;
  /** The last one, however it was asked for; null before the first. */
  last: () => { status: Status; ageMs: number } | null;
}

export function observedStatus(now: () => Promise<Status>, clock: Clock): ObservedStatus {
  let last: { status: Status; atMs: number } | null = null;
  const noted = async (): Promise<Status> => {
    const atMs = clock.monotonic();
    const status = await now();
    last = { status, atMs };
    return status;
  };
  return {
    now,
    read: keptFor(FRESH_MS, noted, clock),
    last: () => last && { status: last.status, ageMs: clock.monotonic() - last.atMs },
  };
}

export async function readStatus(context: AppContext, workspaces: Workspaces, dispatch: DispatchRole): Promise<Status> {
  const { config, redis, keys, watch, clock } = context;
  const processes = await createProcessRegistry(redis, keys).list();
  const [lateMs, actorsIn] = [latenessIn(processes), knownActorsIn(processes)];
  const view = { reads: createReads(redis), keys, nowMs: clock.now(), lateMs, actorsIn };
  const [redisStatus, workspaceStatuses, subscriptions, unconfigured] = await Promise.all([
    readRedisStatus(redis, keys, { ...config.redis, clock }),
    Promise.all(
      workspaces
        .all()
        .map(({ config, state, lists }) =>
          readWorkspaceStatus(view, { ...config, state, lists: Object.fromEntries(lists) }),
        ),
    ),
    dispatch.dispatcher.statistics(),
    dispatch.dispatcher.leftBehind(),
  ]);
  const at = isoTime(view.nowMs);
  const facts = { at, redis: redisStatus, workspaces: workspaceStatuses, subscriptions, unconfigured, processes };
  return { ...facts, problems: problemsOf(facts, { redisIsJustBack: watch.isJustBack }) };
}

type Find<Value> = (workspace: string, list: ListName) => Value;

/** With some hundred workspaces a search for each list would take longer than to read what Redis has. */
const keyOf = (workspace: string, list: ListName): string => `${workspace} ${list}`;

function knownActorsIn(processes: Status['processes']): Find<{ known: number; of: number } | null> {
  const sums = new Map<string, { known: number; of: number }>();
  for (const { workspace, list, known, of } of processes.flatMap(({ edits = [] }) => edits)) {
    const { known: more, of: all } = sums.get(keyOf(workspace, list)) ?? { known: 0, of: 0 };
    sums.set(keyOf(workspace, list), { known: known + more, of: of + all });
  }
  return (workspace, list) => {
    const sum = sums.get(keyOf(workspace, list));
    return sum === undefined || sum.of === 0 ? null : sum;
  };
}

/** A list is late only where every process says so that polls its workspace: another may have asked. */
function latenessIn(processes: Status['processes']): Find<number> {
  const polling = processes
    .filter(({ roles }) => roles.includes('poll'))
    .map(({ workspaces, late = [] }) => ({
      polls: new Set(workspaces),
      late: new Map(late.map(({ workspace, list, forMs }) => [keyOf(workspace, list), forMs])),
    }));
  return (workspace, list) => {
    const late = polling
      .filter(({ polls }) => polls.has(workspace))
      .map((one) => one.late.get(keyOf(workspace, list)) ?? 0);
    return late.length === 0 ? 0 : Math.min(...late);
  };
}
