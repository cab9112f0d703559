/**
 * A stretch of the log, sent to one subscription again. Its events are jobs of their own, at the end of their records'
 * lanes: among themselves they keep the order of the log, and run beside nothing else of their record.
 *
 * A replay is a task that is laid down first and then worked off, batch by batch, by whoever asked for it; should that one
 * stop or be killed, any dispatcher goes on. Two at the same task change nothing: see `deliver` and `FeedStore`.
 */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import { compareLogIds, parseBeginning } from '../events/log-id.js';
import type { LoggedEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { deliver, type Outgoing } from './enqueue.js';
import { compileSelection, readsWorkspace } from './match.js';
import type { Delivery, BackfillStore, LogReader, MarkedEntry, OffsetStore, RecordGate } from './ports.js';
import { entryOf, groupOf } from './queue-layout.js';

export interface ReplayCall {
  subscription: string;
  /** `beginning`, a log id (that event first), or a time in ISO 8601 (what was logged from then on). */
  from: string;
  /** A log id, that event last. @defaultValue as far as the subscription has read; the rest it gets anyway */
  to?: string | undefined;
  /** @defaultValue all */
  workspace?: string | undefined;
  /** Leaves what is not sent yet to the processes with the role `dispatch`. */
  signal?: AbortSignal | undefined;
}

export interface Replayed {
  /** Events sent. What the subscription does not select is not counted. */
  events: number;
  /** The log id of the last one looked at, per workspace. */
  reached: Readonly<Record<string, string>>;
  /** Left to others by the signal. */
  interrupted: boolean;
}

export interface ReplayDeps {
  queue: Queue<Delivery>;
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
  /** Stands behind the ids of its jobs. */
  id: string;
  workspace: string;
  /** Log id: what comes after it is still to be sent, up to and including `last`. */
  after: string;
  last: string;
  sent: number;
  /** Who works at it, and when they last did, ms. Others leave it alone meanwhile: for economy, not for safety. */
  worker: string;
  workedAtMs: number;
  done: boolean;
}

const PREFIX = 'replay ';
const BATCH = 250;
const FULL_WAIT_MS = 100;
const HIGH_WATER = 5_000;
/** After so long without a step, its worker is taken for gone. */
const ABANDONED_MS = 5_000;
/** Done, and whoever asked has not come to see it. */
const FORGOTTEN_MS = 3_600_000;

/** @throws ChangefeedError CF_USAGE when `from` or `to` is no place in a log */
export async function replay(call: ReplayCall, deps: ReplayDeps): Promise<Replayed> {
  const names = await layDown(call, deps);
  const reached: Record<string, string> = {};
  let events = 0;
  for (const [workspace, name] of names) {
    const task = await workOff(name, call, deps);
    if (task === null) continue;
    events += task.sent;
    reached[workspace] = task.after;
  }
  return { events, reached, interrupted: call.signal?.aborted === true };
}

/** One batch of a replay that nobody works at, if there is one. False: there was nothing to do. */
export async function stepReplay(
  tasks: ReadonlyMap<string, string>,
  workspace: string,
  deps: ReplayDeps & { worker: string },
): Promise<boolean> {
  const { clock = systemClock, backfills: feeds, subscription } = deps;
  for (const [name, text] of tasks) {
    if (!name.startsWith(PREFIX)) continue;
    const task = JSON.parse(text) as ReplayTask;
    const restedMs = clock.now() - task.workedAtMs;
    if (task.workspace !== workspace) continue;
    if (!task.done && (task.worker === deps.worker || restedMs > ABANDONED_MS)) {
      await step({ name, text }, deps);
      return true;
    }
    if (task.done && restedMs > FORGOTTEN_MS) await feeds.move(subscription.name, { name, from: text, to: null });
  }
  return false;
}

/** Writes down what is asked for: from here on it is done, whoever does it. Answers the task of each workspace. */
async function layDown(call: ReplayCall, deps: ReplayDeps): Promise<Map<string, string>> {
  const { from, to, signal } = call;
  const { subscription, offsets: places, backfills: feeds, clock = systemClock } = deps;
  const after = parseBeginning(from);
  if (after === undefined) throw noPlace('from', from, `"beginning", a time (2026-03-01T09:00:00Z) or a log id`);
  if (to !== undefined && !/^\d+-\d+$/.test(to)) throw noPlace('to', to, 'a log id');
  const names = new Map<string, string>();
  if (signal?.aborted === true) return names;
  const id = `r${randomBytes(5).toString('hex')}`;
  const wanted = deps.workspaces.filter((name) => call.workspace === undefined || name === call.workspace);
  for (const workspace of wanted.filter((name) => readsWorkspace(subscription, name))) {
    const read = await places.get(workspace, subscription.name);
    // One that has not begun will begin where its `start` says.
    if (read === null) continue;
    const last = to !== undefined && compareLogIds(to, read) < 0 ? to : read;
    const who = { worker: id, workedAtMs: clock.now() };
    const task: ReplayTask = { id, workspace, after, last, sent: 0, ...who, done: false };
    names.set(workspace, `${PREFIX}${id} ${workspace}`);
    await feeds.begin(subscription.name, `${PREFIX}${id} ${workspace}`, JSON.stringify(task));
  }
  return names;
}

async function workOff(name: string, { signal }: ReplayCall, deps: ReplayDeps): Promise<ReplayTask | null> {
  const { subscription, backfills: feeds, gate, clock = systemClock, highWater = HIGH_WATER } = deps;
  for (;;) {
    const text = (await feeds.tasks(subscription.name)).get(name);
    if (text === undefined) return null;
    const task = JSON.parse(text) as ReplayTask;
    if (task.done) await feeds.move(subscription.name, { name, from: text, to: null });
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
  const { subscription, log, gate, queue, backfills: feeds, worker, clock = systemClock } = deps;
  const task = JSON.parse(text) as ReplayTask;
  const batch = await log.read(task.workspace, task.after, BATCH);
  const wanted = batch.filter(({ logId }) => compareLogIds(logId, task.last) <= 0);
  const outgoing = sentAgain(wanted, task, subscription);
  const feed = `${task.id}:${task.workspace}`;
  await deliver(outgoing, { queue, enter: (entries) => gate.enterBackfill(subscription.name, feed, entries) });
  const next: ReplayTask = {
    ...task,
    after: wanted.at(-1)?.logId ?? task.after,
    sent: task.sent + outgoing.length,
    worker,
    workedAtMs: clock.now(),
    done: batch.length < BATCH || wanted.length < batch.length,
  };
  await feeds.move(subscription.name, { name, from: text, to: JSON.stringify(next) });
}

function sentAgain(
  batch: readonly LoggedEvent[],
  { workspace, id }: ReplayTask,
  subscription: Subscription,
): Outgoing<MarkedEntry>[] {
  const selects = compileSelection(subscription);
  return batch
    .filter(({ event }) => selects(event))
    .map(({ event, logId }) => {
      const lane = groupOf({ workspace, event }, subscription);
      const delivery: Delivery = { event, workspace, logId, group: lane, replay: id };
      return { delivery, entry: { ...entryOf(delivery), mark: markOf(logId) } };
    });
}

/** A log id as a text that grows with the log. */
function markOf(logId: string): string {
  return logId
    .split('-')
    .map((part) => part.padStart(15, '0'))
    .join('-');
}

function noPlace(option: string, found: string, allowed: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message: `replay, ${option}: found "${found}"; allowed: ${allowed}.` });
}
