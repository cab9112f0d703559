/**
 * Removes all that is stored for a workspace, or a subscription no longer configured, while no process works on it. A
 * workspace goes in passes: its own keys, so that no process queues more events, then jobs and ordering state. After a
 * crash the next call continues. The last pass is the one that finds nothing.
 */
import type { Queue } from 'bullmq';
import { ChangefeedError, usage } from '../../kit/errors.js';
import type { Clock } from '../../kit/clock.js';
import { formatDuration } from '../../kit/duration.js';
import type { TraceStore } from './traces.js';
import { storedIn, type StoredEvents } from '../../delivery/ask/left-behind.js';
import {
  jobIdsIn,
  jobsWith,
  openQueues,
  type JobData,
  type QueuesOptions,
  type StoredJob,
} from '../../delivery/queues.js';

/** What `forget` removed of a workspace. */
export interface Forgotten {
  workspace: string;
  /** Stored records, including deleted ones. */
  records: number;
  /** Events in the log. */
  events: number;
  /** Jobs of its events in the subscriptions' queues. */
  deliveries: { waiting: number; handled: number; dead: number };
  /** The workspace's own Redis keys. */
  keys: number;
}

/** What is stored of a subscription, whether it is configured or not. */
export interface StoredSubscription extends StoredEvents {
  /** Processes that handle it now. */
  workers: number;
}

/** What was removed of a subscription. */
export interface ForgottenSubscription extends StoredSubscription {
  /** Keys and offsets that were removed; 0 with a dry run, and when nothing was stored. */
  keys: number;
}

interface ForgetSubscriptionCall {
  subscription: string;
  configured: readonly string[];
  /** Only says what is stored. @defaultValue false */
  dryRun?: boolean | undefined;
}

export interface TracesDeps extends Omit<QueuesOptions, 'subscriptions'> {
  traces: TraceStore;
}

interface ForgetDeps extends TracesDeps {
  clock: Clock;
  /** The number of processes that sweep the workspace on a schedule. */
  pollers: (workspace: string) => Promise<number>;
  /** How long to wait for handlers that are running with its events; ms. @defaultValue 60000 */
  patienceMs?: number;
}

/** Between two passes: by then a batch that another process was writing is stored, and the next pass finds it. */
const BETWEEN_PASSES_MS = 250;
const CHUNK = 100;

export async function forgetWorkspace(workspace: string, deps: ForgetDeps): Promise<Forgotten> {
  const { clock, patienceMs = 60_000 } = deps;
  const deadline = clock.monotonic() + patienceMs;
  const sum: Forgotten = { workspace, records: 0, events: 0, deliveries: { waiting: 0, handled: 0, dead: 0 }, keys: 0 };
  for (;;) {
    await refuseWhileSwept(workspace, deps);
    const { found, running } = await removeOnce(sum, deps);
    if (found === 0 && running === 0) return sum;
    if (running > 0 && clock.monotonic() >= deadline) {
      const what = `${running} of its events ${running === 1 ? 'is' : 'are'} still being handled after ${formatDuration(patienceMs)}`;
      throw new ChangefeedError('CF_WORKSPACE_BUSY', {
        workspace,
        running,
        message: `Workspace "${workspace}" is only partly forgotten: ${what}. Wait for the handlers, or stop them; then repeat the command.`,
      });
    }
    await clock.sleep(BETWEEN_PASSES_MS);
  }
}

/** Whether anything is stored of the workspace: also what an interrupted `forgetWorkspace` has left. */
export async function isWorkspaceStored(workspace: string, deps: TracesDeps): Promise<boolean> {
  const { traces } = deps;
  if ((await traces.ofWorkspace(workspace)).length > 0) return true;
  const stored = await inEachQueue(deps, async (queue) => {
    const found = await traces.ofWorkspaceIn(queue.name, workspace);
    return found.length > 0 || (await jobsOf(queue, workspace)).length > 0;
  });
  return stored.includes(true);
}

export function storedSubscriptions(deps: TracesDeps): Promise<StoredSubscription[]> {
  return inEachQueue(deps, async (queue) => ({ ...(await storedIn(queue)), workers: await queue.getWorkersCount() }));
}

export async function forgetSubscription(
  { subscription, configured, dryRun = false }: ForgetSubscriptionCall,
  deps: TracesDeps,
): Promise<ForgottenSubscription> {
  if (configured.includes(subscription))
    throw refused(`the configuration has the subscription "${subscription}". Remove it there first.`);
  const found = idle(subscription, await storedSubscriptions(deps));
  const { traces } = deps;
  return { ...found, keys: dryRun ? 0 : await traces.remove(await traces.ofSubscription(subscription)) };
}

function idle(subscription: string, stored: readonly StoredSubscription[]): StoredSubscription {
  const found = stored.find((one) => one.subscription === subscription);
  if (found === undefined) {
    const names = stored.map((one) => `"${one.subscription}"`).join(', ');
    throw refused(`nothing is stored of a subscription "${subscription}". Stored: ${names === '' ? 'none' : names}.`);
  }
  if (found.workers === 0) return found;
  const who = found.workers === 1 ? 'process handles' : 'processes handle';
  throw refused(
    `${found.workers} ${who} "${subscription}" now. Stop it, or remove the subscription from its configuration.`,
  );
}

export async function inEachQueue<Result>(
  { traces, ...options }: TracesDeps,
  act: (queue: Queue<JobData>) => Promise<Result>,
): Promise<Result[]> {
  const subscriptions = (await traces.subscriptions()).map((name) => ({ name }));
  const queues = openQueues({ ...options, subscriptions });
  try {
    const results: Result[] = [];
    for (const queue of queues.all.values()) results.push(await act(queue));
    return results;
  } finally {
    await queues.close();
  }
}

async function refuseWhileSwept(workspace: string, { traces, pollers }: ForgetDeps): Promise<void> {
  const [lists, processes] = await Promise.all([traces.sweeping(workspace), pollers(workspace)]);
  if (lists.length === 0 && processes === 0) return;
  const who =
    processes > 0
      ? `${processes} ${processes === 1 ? 'process sweeps' : 'processes sweep'} it on schedule`
      : `its list ${lists.join(', ')} is being swept`;
  throw new ChangefeedError('CF_WORKSPACE_BUSY', {
    workspace,
    message: `Workspace "${workspace}" cannot be forgotten now: ${who}, and would write removed data again. Stop the service, or remove the workspace from its configuration and restart it; then repeat the command.`,
  });
}

/** Adds to the sum. @returns how many things it removed, and the events that are being handled at this moment */
async function removeOnce(sum: Forgotten, deps: ForgetDeps): Promise<{ found: number; running: number }> {
  const { workspace, deliveries } = sum;
  const { traces } = deps;
  const { events, records } = await traces.sizes(workspace);
  const keys = await traces.remove([...(await traces.ofWorkspace(workspace)), ...(await traces.namedIn(workspace))]);
  sum.records += records;
  sum.events += events;
  sum.keys += keys;
  let running = 0;
  const removed = await inEachQueue(deps, async (queue) => {
    const states = await inChunks(await jobsOf(queue, workspace), ({ id }) => removeJob(queue, id));
    for (const state of states) {
      if (state === 'running') running += 1;
      else deliveries[state] += 1;
    }
    return states.length + (await traces.remove(await traces.ofWorkspaceIn(queue.name, workspace)));
  });
  return { found: removed.reduce((all, count) => all + count, keys), running };
}

async function jobsOf(queue: Queue<JobData>, workspace: string): Promise<StoredJob[]> {
  const ids = await jobIdsIn(queue, ['waiting', 'active', 'delayed', 'prioritized', 'completed', 'failed']);
  return (await jobsWith(queue, ids)).filter(({ data }) => data.workspace === workspace);
}

async function inChunks<One, Result>(all: readonly One[], act: (one: One) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < all.length; at += CHUNK)
    results.push(...(await Promise.all(all.slice(at, at + CHUNK).map(act))));
  return results;
}

async function removeJob(queue: Queue<JobData>, jobId: string): Promise<keyof Forgotten['deliveries'] | 'running'> {
  const state = await queue.getJobState(jobId);
  // BullMQ refuses while a worker holds the job's lock. A job whose worker was lost has no lock and is removed.
  if ((await queue.remove(jobId)) === 0) return 'running';
  return state === 'failed' ? 'dead' : state === 'completed' ? 'handled' : 'waiting';
}

function refused(why: string): ChangefeedError {
  return usage(`subscriptions forget: ${why}`);
}
