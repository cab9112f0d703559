/**
 * Removes everything stored for a workspace, in passes: first the workspace's own keys (without its log, no process can
 * queue more events), then the jobs of its events in every queue, then their ordering state. A crash can come after each
 * step; the next call continues. The last pass is the one that finds nothing. Events of other workspaces in the same queues
 * are not touched.
 *
 * A process that works on the workspace would write removed data again. So each pass first checks that no process does, and
 * fails otherwise. Events that are being handled are waited for.
 */
import type { Queue } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import type { Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { JobData, TraceStore } from './ports.js';
import { openQueues, type QueuesOptions } from './queues.js';

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

export interface ForgetDeps extends Pick<QueuesOptions, 'connect' | 'keys' | 'logger'> {
  traces: TraceStore;
  clock: Clock;
  /** The number of processes that sweep the workspace on a schedule. */
  pollers: (workspace: string) => Promise<number>;
  /** How long to wait for handlers that are running with its events; ms. @defaultValue 60000 */
  patienceMs?: number;
}

const PATIENCE_MS = 60_000;
/** Between two passes: by then a batch that another process was writing is stored, and the next pass finds it. */
const BETWEEN_PASSES_MS = 250;
const CHUNK = 100;

/** @throws ChangefeedError CF_WORKSPACE_BUSY */
export async function forgetWorkspace(workspace: string, deps: ForgetDeps): Promise<Forgotten> {
  const { clock, patienceMs = PATIENCE_MS } = deps;
  const deadline = clock.now() + patienceMs;
  const sum: Forgotten = { workspace, records: 0, events: 0, deliveries: { waiting: 0, handled: 0, dead: 0 }, keys: 0 };
  for (;;) {
    await refuseWhileSwept(workspace, deps);
    const { found, running } = await removeOnce(sum, deps);
    if (found === 0 && running === 0) return sum;
    if (running > 0 && clock.now() >= deadline) throw stillRunning(workspace, running, patienceMs);
    await clock.sleep(BETWEEN_PASSES_MS);
  }
}

/** Whether anything is stored of the workspace: also what an interrupted `forgetWorkspace` has left. */
export async function isWorkspaceStored(
  workspace: string,
  { traces, ...options }: Pick<ForgetDeps, 'traces' | 'connect' | 'keys' | 'logger'>,
): Promise<boolean> {
  if (await traces.hasWorkspace(workspace)) return true;
  const subscriptions = await traces.subscriptions();
  const queues = openQueues({ ...options, subscriptions: subscriptions.map((name) => ({ name })) });
  try {
    for (const subscription of subscriptions) {
      if (await traces.hasTraces(subscription, workspace)) return true;
      if ((await jobsOf(queues.of(subscription), workspace)).length > 0) return true;
    }
    return false;
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

/**
 * Adds what it removes to the sum.
 * @returns how many things it removed, and the events that are being handled at this moment
 */
async function removeOnce(
  sum: Forgotten,
  { traces, ...deps }: ForgetDeps,
): Promise<{ found: number; running: number }> {
  const { workspace, deliveries } = sum;
  const own = await traces.removeWorkspace(workspace);
  sum.records += own.records;
  sum.events += own.events;
  sum.keys += own.keys;
  const subscriptions = await traces.subscriptions();
  let found = own.keys;
  let running = 0;
  const queues = openQueues({ ...deps, subscriptions: subscriptions.map((name) => ({ name })) });
  try {
    for (const subscription of subscriptions) {
      const queue = queues.of(subscription);
      for (const state of await removeJobs(queue, await jobsOf(queue, workspace))) {
        if (state === 'running') running += 1;
        else deliveries[state] += 1;
        found += 1;
      }
      found += await traces.removeTraces(subscription, workspace);
    }
  } finally {
    await queues.close();
  }
  return { found, running };
}

type State = keyof Forgotten['deliveries'] | 'running';

async function jobsOf(queue: Queue<JobData>, workspace: string): Promise<string[]> {
  const ids = await queue.getRanges(['waiting', 'active', 'delayed', 'prioritized', 'completed', 'failed'], 0, -1);
  const found: string[] = [];
  for (let at = 0; at < ids.length; at += CHUNK) {
    const jobs = await Promise.all(ids.slice(at, at + CHUNK).map((id) => queue.getJob(id)));
    found.push(...jobs.flatMap((job) => (job?.data.workspace === workspace ? (job.id ?? []) : [])));
  }
  return found;
}

async function removeJobs(queue: Queue<JobData>, jobIds: readonly string[]): Promise<State[]> {
  const states: State[] = [];
  for (let at = 0; at < jobIds.length; at += CHUNK)
    states.push(...(await Promise.all(jobIds.slice(at, at + CHUNK).map((id) => removeJob(queue, id)))));
  return states;
}

async function removeJob(queue: Queue<JobData>, jobId: string): Promise<State> {
  const state = await queue.getJobState(jobId);
  // BullMQ refuses while a worker holds the job's lock. A job whose worker was lost has no lock and is removed.
  if ((await queue.remove(jobId)) === 0) return 'running';
  return state === 'failed' ? 'dead' : state === 'completed' ? 'handled' : 'waiting';
}

function stillRunning(workspace: string, running: number, patienceMs: number): ChangefeedError {
  const what = `${running} of its events ${running === 1 ? 'is' : 'are'} still being handled after ${formatDuration(patienceMs)}`;
  return new ChangefeedError('CF_WORKSPACE_BUSY', {
    workspace,
    running,
    message: `Workspace "${workspace}" is only partly forgotten: ${what}. Wait for the handlers, or stop them; then repeat the command.`,
  });
}
