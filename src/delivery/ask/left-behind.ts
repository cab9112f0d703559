/** Finds what waits in Redis under the names of subscriptions that no process has configured. */
import type { Queue } from 'bullmq';
import { compareLogIds } from '../../events/log-id.js';
import type { JobData, Queues } from '../queues.js';
import type { DispatchContext } from '../stores.js';

export interface StoredEvents {
  subscription: string;
  /** Events that wait for a handler or a retry. */
  waiting: number;
  dead: number;
}

export type LeftBehind = StoredEvents & {
  /** The log has events that it has not read; nobody knows whether it would select them. */
  unread: boolean;
};

export async function storedIn(queue: Queue<JobData>): Promise<StoredEvents> {
  const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'prioritized');
  const { waiting = 0, active = 0, delayed = 0, prioritized = 0, failed = 0 } = counts;
  return { subscription: queue.name, waiting: waiting + active + delayed + prioritized, dead: failed };
}

/** A dispatcher marks its own subscriptions once a minute. Another one may run another configuration. */
const UNCONFIGURED_MS = 150_000;

/** What waits or is dead under names that no process has configured: they were renamed or removed. */
export async function leftBehind(context: DispatchContext & { queues: Queues }): Promise<LeftBehind[]> {
  const { workspaces, subscriptions, offsets, queues, clock } = context;
  const sinceMs = clock.now() - UNCONFIGURED_MS;
  const found = await Promise.all(workspaces.map((workspace) => offsets.unconfigured(workspace, sinceMs)));
  const names = [...new Set(found.flat())].filter((name) => !subscriptions.some((one) => one.name === name)).sort();
  const stored = await Promise.all(
    names.map(async (name) => {
      const unread = await Promise.all(workspaces.map((workspace) => hasUnread(name, workspace, context)));
      return { ...(await storedIn(queues.former(name))), unread: unread.includes(true) };
    }),
  );
  return stored.filter(({ waiting, dead, unread }) => waiting + dead > 0 || unread);
}

async function hasUnread(name: string, workspace: string, { offsets, log }: DispatchContext): Promise<boolean> {
  const offset = await offsets.get(workspace, name);
  return offset !== null && compareLogIds(offset, await log.tail(workspace)) < 0;
}
