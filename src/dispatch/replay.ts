/**
 * A replay sends a range of the log to one subscription again. Its events are deliveries of their own, at the end of their
 * ordering groups: they keep the order of the log among themselves, and never run at the same time as another event of
 * their record.
 *
 * A replay is stored as a task before the first event is sent, and then sent in batches by the process that asked for it.
 * If that process stops or is killed, any dispatcher continues. Two processes at the same task do no harm: see `enqueue`
 * and `BackfillStore`.
 */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import { compareLogIds, parseBeginning } from '../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { enqueueEvents } from './enqueue.js';
import { compileSelection, readsWorkspace } from './match.js';
import type { BackfillStore, JobData, LogReader, OffsetStore, RecordGate } from './ports.js';

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

export interface ReplayDeps {
  queue: Queue<JobData>;
  subscription: Subscription;
  workspaces: readonly string[];
  log: Pick<LogReader, 'read'>;
  offsets: OffsetStore;
  gate: RecordGate;
  backfills: BackfillStore;
  clock?: Clock;
  /** Pending events above which it waits. @defaultValue 5000 */
  highWater?: number;
}

/** A replay within one workspace. */
interface ReplayTask {
  /** The ids of its jobs end in it. */
  id: string;
  workspace: string;
  /** Log ids: the events after `after`, up to and including `last`, are still to be sent. */
  after: string;
  last: string;
  /** Only events of this record are sent. */
  record?: string;
  sent: number;
  /** Which process works on it and when it last did, ms. Others wait meanwhile; this saves work and is not needed for safety. */
  worker: string;
  workedAtMs: number;
  done: boolean;
}

const PREFIX = 'replay ';
const BATCH = 250;
const FULL_WAIT_MS = 100;
const HIGH_WATER = 5_000;
/** After this time without a step, the worker counts as gone. */
const ABANDONED_MS = 5_000;
/** A finished task is deleted after this time if the process that asked for it has not done so. */
const FORGOTTEN_MS = 3_600_000;

/** @throws ChangefeedError CF_USAGE when `from` or `to` is not a valid offset */
export async function replay(call: ReplayCall, deps: ReplayDeps): Promise<Replayed> {
  const tasks = await tasksOf(call, deps);
  if (call.dryRun === true) return await countEvents(tasks, call, deps);
  const names = await storeTasks(tasks, deps);
  const reached: Record<string, string> = {};
  let events = 0;
  for (const [workspace, name] of names) {
    const task = await sendAll(name, call, deps);
    if (task === null) continue;
    events += task.sent;
    reached[workspace] = task.after;
  }
  return { events, reached, interrupted: call.signal?.aborted === true };
}

/** Sends one batch of an abandoned replay, or of one that this worker has taken over. False: there was none. */
export async function stepReplay(
  tasks: ReadonlyMap<string, string>,
  workspace: string,
  deps: ReplayDeps & { worker: string },
): Promise<boolean> {
  const { clock = systemClock, backfills, subscription } = deps;
  for (const [name, text] of tasks) {
    if (!name.startsWith(PREFIX)) continue;
    const task = JSON.parse(text) as ReplayTask;
    const restedMs = clock.now() - task.workedAtMs;
    if (task.workspace !== workspace) continue;
    if (!task.done && (task.worker === deps.worker || restedMs > ABANDONED_MS)) {
      await step({ name, text }, deps);
      return true;
    }
    if (task.done && restedMs > FORGOTTEN_MS)
      await backfills.step(subscription.name, { workspace: task.workspace, name, from: text, to: null });
  }
  return false;
}

/** One task per workspace. */
async function tasksOf(call: ReplayCall, deps: ReplayDeps): Promise<ReplayTask[]> {
  const { from, to, signal, record } = call;
  const { subscription, offsets, clock = systemClock } = deps;
  const after = parseBeginning(from);
  if (after === undefined) throw invalidOffset('from', from, `"beginning", a time (2026-03-01T09:00:00Z) or a log id`);
  if (to !== undefined && !/^\d+-\d+$/.test(to)) throw invalidOffset('to', to, 'a log id');
  const tasks: ReplayTask[] = [];
  if (signal?.aborted === true) return tasks;
  const id = `r${randomBytes(5).toString('hex')}`;
  const wanted = deps.workspaces.filter((name) => call.workspace === undefined || name === call.workspace);
  for (const workspace of wanted.filter((name) => readsWorkspace(subscription, name))) {
    const offset = await offsets.get(workspace, subscription.name);
    // Without an offset the subscription has not started; its option `start` decides where it will.
    if (offset === null) continue;
    const last = to !== undefined && compareLogIds(to, offset) < 0 ? to : offset;
    const what = record === undefined ? {} : { record };
    tasks.push({ id, workspace, after, last, ...what, sent: 0, worker: id, workedAtMs: clock.now(), done: false });
  }
  return tasks;
}

/** From then on the replay is completed, whichever process does it. Returns the tasks' names. */
async function storeTasks(
  tasks: readonly ReplayTask[],
  { subscription, backfills }: ReplayDeps,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const task of tasks) {
    const name = `${PREFIX}${task.id} ${task.workspace}`;
    names.set(task.workspace, name);
    await backfills.begin(subscription.name, name, JSON.stringify(task));
  }
  return names;
}

async function countEvents(
  tasks: readonly ReplayTask[],
  { signal }: ReplayCall,
  deps: Pick<ReplayDeps, 'log' | 'subscription'>,
): Promise<Replayed> {
  const reached: Record<string, string> = {};
  let events = 0;
  for (let task of tasks) {
    while (!task.done && signal?.aborted !== true) task = (await nextBatch(task, deps)).next;
    events += task.sent;
    reached[task.workspace] = task.after;
  }
  return { events, reached, interrupted: signal?.aborted === true };
}

/** The events to send next, and the task when they are sent. */
async function nextBatch(
  task: ReplayTask,
  { log, subscription }: Pick<ReplayDeps, 'log' | 'subscription'>,
): Promise<{ selected: LoggedEvent[]; next: ReplayTask }> {
  const batch = await log.read(task.workspace, task.after, BATCH);
  const wanted = batch.filter(({ logId }) => compareLogIds(logId, task.last) <= 0);
  const selects = compileSelection(subscription);
  const isWanted = ({ subject }: ChangeEvent): boolean => task.record === undefined || subject === task.record;
  const selected = wanted.filter(({ event }) => isWanted(event) && selects(event));
  const next = {
    ...task,
    after: wanted.at(-1)?.logId ?? task.after,
    sent: task.sent + selected.length,
    done: batch.length < BATCH || wanted.length < batch.length,
  };
  return { selected, next };
}

async function sendAll(name: string, { signal }: ReplayCall, deps: ReplayDeps): Promise<ReplayTask | null> {
  const { subscription, backfills, gate, clock = systemClock, highWater = HIGH_WATER } = deps;
  for (;;) {
    const text = (await backfills.tasks(subscription.name)).get(name);
    if (text === undefined) return null;
    const task = JSON.parse(text) as ReplayTask;
    if (task.done) await backfills.step(subscription.name, { workspace: task.workspace, name, from: text, to: null });
    if (task.done || signal?.aborted === true) return task;
    const { events: pending } = await gate.pending(subscription.name, task.workspace);
    if (pending >= highWater) await clock.sleep(FULL_WAIT_MS);
    else await step({ name, text }, { ...deps, worker: task.id });
  }
}

async function step(
  { name, text }: { name: string; text: string },
  deps: ReplayDeps & { worker: string },
): Promise<void> {
  const { subscription, backfills, worker, clock = systemClock } = deps;
  const task = JSON.parse(text) as ReplayTask;
  const { id, workspace } = task;
  const { selected, next } = await nextBatch(task, deps);
  await enqueueEvents(selected, { subscription, clock, workspace, origin: id, readAt: { task: name, text } }, deps);
  const to = JSON.stringify({ ...next, worker, workedAtMs: clock.now() });
  await backfills.step(subscription.name, { workspace, name, from: text, to });
}

function invalidOffset(option: string, found: string, allowed: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message: `replay, ${option}: found "${found}"; allowed: ${allowed}.` });
}
