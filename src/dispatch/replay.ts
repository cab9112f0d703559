/** Sends a range of the log to one subscription again. A stored task, so it ends whichever process is killed. */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import type { ChangefeedError } from '../errors.js';
import { usage } from '../errors.js';
import { BEFORE_ALL, compareLogIds, parseBeginning } from '../events/log-id.js';
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { ReplayTask } from './backfill-task.js';
import { enqueueEvents } from './deliveries.js';
import { compileSelection, readsWorkspace } from '../events/pattern.js';
import type { JobData } from './queues.js';
import type { DispatchStores } from './stores.js';
import type { StoredTask } from '../state/backfills.js';

export interface ReplayCall {
  subscription: string;
  /** `beginning`, a log id (that event first), or a time in ISO 8601 (events logged from then on). */
  from: string;
  /** A log id, that event last. @defaultValue the subscription's offset; it gets later events anyway */
  to?: string | undefined;
  /** @defaultValue all */
  workspace?: string | undefined;
  /** Only events of the record with this id. @defaultValue all */
  record?: string | undefined;
  /** Only counts the events; nothing is sent. @defaultValue false */
  dryRun?: boolean | undefined;
  /** Stops sending. Processes with the role `dispatch` send the rest. */
  signal?: AbortSignal | undefined;
}

export interface Replayed {
  /** Events sent. Events that the subscription does not select are not counted. */
  events: number;
  /** The log id of the last event read, per workspace. */
  reached: Readonly<Record<string, string>>;
  /** Stopped by the signal; other processes send the rest. */
  interrupted: boolean;
}

interface StepDeps extends DispatchStores {
  queue: Queue<JobData>;
  subscription: Subscription;
  clock: Clock;
}

export interface ReplayDeps extends StepDeps {
  workspaces: readonly string[];
  timeZoneOf: (workspace: string) => string;
  /** Pending events above which it waits. @defaultValue 5000 */
  highWater?: number;
}

const BATCH = 250;
export const FULL_WAIT_MS = 100;
export const HIGH_WATER = 5_000;

/** @throws ChangefeedError CF_USAGE when `from` or `to` is not a valid offset */
export async function replay(call: ReplayCall, deps: ReplayDeps): Promise<Replayed> {
  const tasks = await tasksOf(call, deps);
  // From then on the replay is completed, whichever process does it.
  if (call.dryRun !== true) for (const task of tasks) await deps.backfills.begin(deps.subscription.name, task);
  const reached: Record<string, string> = {};
  let events = 0;
  for (const task of tasks) {
    const end = call.dryRun === true ? await countAll(task, call, deps) : await sendAll(task, call, deps);
    events += end.sent;
    reached[end.workspace] = end.after;
  }
  return { events, reached, interrupted: call.signal?.aborted === true };
}

/** Sends one batch of a replay. False: there is none. */
export async function stepReplay(tasks: readonly StoredTask[], workspace: string, deps: StepDeps): Promise<boolean> {
  const stored = tasks.filter(isReplay).find(({ task }) => task.workspace === workspace);
  if (stored !== undefined) await step(stored, deps);
  return stored !== undefined;
}

function isReplay(stored: StoredTask): stored is StoredTask<ReplayTask> {
  return stored.task.kind === 'replay';
}

async function tasksOf({ from, to, signal, record, workspace: only }: ReplayCall, deps: ReplayDeps) {
  const { subscription, offsets } = deps;
  // Also where no workspace reads it.
  if (parseBeginning(from, 'UTC') === undefined)
    throw invalidOffset('from', from, `"beginning", a time (2026-03-01T09:00:00Z) or a log id`);
  if (to !== undefined && !/^\d+-\d+$/.test(to)) throw invalidOffset('to', to, 'a log id');
  const tasks: ReplayTask[] = [];
  if (signal?.aborted === true) return tasks;
  const id = `r${randomBytes(5).toString('hex')}`;
  for (const workspace of deps.workspaces) {
    if ((only !== undefined && only !== workspace) || !readsWorkspace(subscription, workspace)) continue;
    const offset = await offsets.get(workspace, subscription.name);
    // Without an offset the subscription has not started; its option `start` decides where it will.
    if (offset === null) continue;
    const last = to !== undefined && compareLogIds(to, offset) < 0 ? to : offset;
    const after = parseBeginning(from, deps.timeZoneOf(workspace)) ?? BEFORE_ALL;
    tasks.push({ kind: 'replay', id, workspace, after, last, ...(record !== undefined && { record }), sent: 0 });
  }
  return tasks;
}

async function countAll(first: ReplayTask, { signal }: ReplayCall, deps: ReplayDeps): Promise<ReplayTask> {
  let task = first;
  while (signal?.aborted !== true) {
    const { next, isLast } = await nextBatch(task, deps);
    task = next;
    if (isLast) break;
  }
  return task;
}

async function sendAll(first: ReplayTask, call: ReplayCall, deps: ReplayDeps): Promise<ReplayTask> {
  const { subscription, backfills, gate, clock, highWater = HIGH_WATER } = deps;
  let furthest = first;
  for (;;) {
    const tasks = (await backfills.tasks(subscription.name)).filter(isReplay);
    const stored = tasks.find(({ task }) => task.id === first.id && task.workspace === first.workspace);
    // Another process may have sent the rest.
    if (stored === undefined) return await countAll(furthest, call, deps);
    if (call.signal?.aborted === true) return stored.task;
    const { events: pending } = await gate.pending(subscription.name, first.workspace);
    if (pending >= highWater) await clock.sleep(FULL_WAIT_MS);
    else furthest = await step(stored, deps);
  }
}

async function step(stored: StoredTask<ReplayTask>, deps: StepDeps): Promise<ReplayTask> {
  const { id, workspace } = stored.task;
  const { selected, next, isLast } = await nextBatch(stored.task, deps);
  await enqueueEvents(selected, { ...deps, workspace, origin: id, readAt: stored }, deps);
  await deps.backfills.step(deps.subscription.name, stored, { to: isLast ? null : next });
  return next;
}

/** The events to send next, and the task after them. The last batch has nothing after it: the log may return few. */
async function nextBatch(task: ReplayTask, { log, subscription }: StepDeps) {
  const batch = await log.read(task.workspace, task.after, BATCH);
  const wanted = batch.filter(({ logId }) => compareLogIds(logId, task.last) <= 0);
  const selects = compileSelection(subscription);
  const selected = wanted.filter(({ event }) => (task.record ?? event.subject) === event.subject && selects(event));
  const after = wanted.at(-1)?.logId ?? task.after;
  const isLast = compareLogIds(batch.at(-1)?.logId ?? task.last, task.last) >= 0;
  return { selected, next: { ...task, after, sent: task.sent + selected.length }, isLast };
}

function invalidOffset(option: string, found: string, allowed: string): ChangefeedError {
  return usage(`replay, ${option}: found "${found}"; allowed: ${allowed}.`);
}
