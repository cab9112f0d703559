/** Sends a range of the log to one subscription again. A stored task, so it ends whichever process is killed. */
import { randomBytes } from 'node:crypto';
import { usage, type ChangefeedError } from '../../kit/errors.js';
import { BEFORE_ALL, compareLogIds, parseBeginning } from '../../events/log-id.js';
import type { ChangeEvent, LoggedEvent } from '../../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import { checkConditions, compileWhere, type Conditions } from '../handlers/where.js';
import type { ReplayTask } from './backfill-task.js';
import { enqueueEvents, idsOf } from '../deliveries.js';
import { compileSelection, compileTypes, readsWorkspace, workspaceOfEvent } from '../../events/pattern.js';
import { jobIdsIn } from '../queues.js';
import type { SubscriptionContext } from '../stores.js';
import type { BackfillStore, StoredTask } from './backfills.js';

/** Which range of the log is sent again, and to whom. */
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
  /** Only these event types, selected as by `on` of a subscription. @defaultValue all */
  types?: readonly string[] | undefined;
  /** Only events for which these conditions hold too, as `where` of a subscription. @defaultValue all */
  where?: Conditions | undefined;
  /**
   * Only events whose last delivery to the subscription ended dead, as its receipts say. What is still a dead letter is left out: retry that.
   * @defaultValue false
   */
  failed?: boolean | undefined;
  /** Only counts the events; nothing is sent. @defaultValue false */
  dryRun?: boolean | undefined;
  /** False: it resolves once the replay is stored, and processes with the role `dispatch` send it. @defaultValue true */
  wait?: boolean | undefined;
  /** Called after each step, with the number of events sent so far. */
  onProgress?: ((sent: number) => void) | undefined;
  /** Stops sending. Processes with the role `dispatch` send the rest. */
  signal?: AbortSignal | undefined;
}

/** What a replay has sent. */
export interface Replayed {
  /** What stops it: `feed.stopReplay`. */
  id: string;
  /** Events sent. Events that the subscription does not select are not counted. */
  events: number;
  /** The log id of the last event read, per workspace. */
  reached: Readonly<Record<string, string>>;
  /** How long they take at least at the `rate` of the subscription, while nothing else is sent to its address; null: it has none. */
  atLeastSeconds: number | null;
  /** Stopped by the signal; other processes send the rest. */
  interrupted: boolean;
}

export interface ReplayDeps extends SubscriptionContext {
  /** Pending events above which it waits. @defaultValue 1000 */
  highWater?: number | undefined;
}

const BATCH = 250;
export const FULL_WAIT_MS = 100;
export const HIGH_WATER = 5_000;
/** Well below: at the same number of pending events, what is new would not be read while a replay fills the queue again and again. */
const SENT_AGAIN_HIGH_WATER = 1_000;
const AHEAD_MS = 2_000;

/**
 * How many events may be pending while some are sent again: what is new comes behind them in the queue, and is not to wait for longer than this at
 * the rate of the subscription. A lower priority would let them wait for ever where the queue is never empty, and with them what is new of their records.
 */
export function mostSentAgain({ rate }: Pick<Subscription, 'rate'>): number {
  if (rate === undefined) return SENT_AGAIN_HIGH_WATER;
  const inTime = Math.floor((AHEAD_MS / 1_000) * (rate.requests / rate.perSeconds));
  return Math.min(SENT_AGAIN_HIGH_WATER, Math.max(1, inTime));
}

const newReplayId = (): string => `r${randomBytes(5).toString('hex')}`;

export function isReplayId(text: string): boolean {
  return /^r[0-9a-f]{10}$/.test(text);
}

/** @throws ChangefeedError CF_USAGE when `from` or `to` is not a valid offset */
export async function replay(call: ReplayCall, deps: ReplayDeps): Promise<Replayed> {
  if (deps.subscription.pull !== undefined) return await setBack(call, deps);
  const asked = await tasksOf(call, deps);
  // From then on the replay is completed, whichever process does it.
  const tasks = call.dryRun === true ? asked : await Promise.all(asked.map((task) => begin(task, deps)));
  const id = tasks[0]?.id ?? '';
  if (call.dryRun !== true && call.wait === false)
    return { id, events: 0, reached: {}, interrupted: false, atLeastSeconds: null };
  const reached: Record<string, string> = {};
  let events = 0;
  for (const task of tasks) {
    const end = call.dryRun === true ? await countAll(task, call, deps) : await sendAll(task, call, deps);
    events += end.sent;
    reached[end.workspace] = end.after;
  }
  const { rate } = deps.subscription;
  const atLeastSeconds = rate === undefined ? null : Math.ceil((events * rate.perSeconds) / rate.requests);
  return { id, events, reached, atLeastSeconds, interrupted: call.signal?.aborted === true };
}

/** A consumer reads the log from its offset: there is nothing to send. What is under way may still be acknowledged, and moves the offset no more. */
async function setBack(call: ReplayCall, deps: ReplayDeps): Promise<Replayed> {
  const { subscription, offsets } = deps;
  const given = Object.entries({
    to: call.to,
    record: call.record,
    types: call.types,
    where: call.where,
    failed: call.failed,
  });
  const refused = given.find(([, value]) => value !== undefined && value !== false)?.[0];
  if (refused !== undefined)
    throw usage(
      `replay, ${refused}: the consumer "${subscription.name}" reads on from a place in the log; give only from and workspace.`,
    );
  const reached: Record<string, string> = {};
  let events = 0;
  for (const task of await tasksOf(call, deps)) {
    const { workspace, after: to, last } = task;
    if (compareLogIds(to, last) >= 0) continue;
    const counted = await countAll(task, call, deps);
    events += counted.sent;
    reached[workspace] = counted.after;
    // What is acknowledged meanwhile moves it.
    for (let from: string | null = last; call.dryRun !== true && from !== null && compareLogIds(from, to) > 0;) {
      await offsets.advance(workspace, subscription.name, { from, to });
      from = await offsets.get(workspace, subscription.name);
    }
  }
  return { id: '', events, reached, atLeastSeconds: null, interrupted: false };
}

/** Redis may have gone back since the offset was read: what the subscription gets anyway is not sent before. */
async function begin(asked: ReplayTask, { subscription, backfills, offsets }: ReplayDeps): Promise<ReplayTask> {
  let task = asked;
  while (!(await backfills.begin(subscription.name, task, task.last)))
    task = { ...task, last: (await offsets.get(task.workspace, subscription.name)) ?? BEFORE_ALL };
  return task;
}

/**
 * Stops replays: nothing more is put into the queue.
 * @param id of one replay. @defaultValue all of the subscription
 * @returns how many parts were stopped, one for each workspace
 */
export async function stopReplays(
  { id, workspace }: { id?: string | undefined; workspace?: string | undefined },
  { subscription, backfills }: { subscription: Subscription; backfills: BackfillStore },
): Promise<number> {
  const stopped = new Set<string>();
  for (;;) {
    const all = (await backfills.tasks(subscription.name)).filter(isReplay);
    const found = all.filter(
      ({ task }) => task.id === (id ?? task.id) && task.workspace === (workspace ?? task.workspace),
    );
    if (found.length === 0) return stopped.size;
    // Another process may be at a step of it: then it is read again.
    for (const one of found) if (await backfills.step(subscription.name, one, { to: null })) stopped.add(one.name);
  }
}

/** Sends one batch of a replay, unless as many events are pending as it may have. */
export async function stepReplay(
  tasks: readonly StoredTask[],
  workspace: string,
  deps: SubscriptionContext,
): Promise<'none' | 'sent' | 'full'> {
  const stored = tasks.filter(isReplay).find(({ task }) => task.workspace === workspace);
  if (stored === undefined) return 'none';
  const { events } = await deps.gate.pending(deps.subscription.name, workspace);
  const room = mostSentAgain(deps.subscription) - events;
  if (room <= 0) return 'full';
  await step(stored, room, deps);
  return 'sent';
}

function isReplay(stored: StoredTask): stored is StoredTask<ReplayTask> {
  return stored.task.kind === 'replay';
}

async function tasksOf({ from, to, signal, workspace: wanted, ...filter }: ReplayCall, deps: ReplayDeps) {
  const { subscription, offsets } = deps;
  // Also where no workspace reads it.
  if (parseBeginning(from, 'UTC') === undefined)
    throw invalidOffset('from', from, `"beginning", a time (2026-03-01T09:00:00Z) or a log id`);
  if (to !== undefined && !/^\d+-\d+$/.test(to)) throw invalidOffset('to', to, 'a log id');
  const tasks: ReplayTask[] = [];
  if (signal?.aborted === true) return tasks;
  const id = newReplayId();
  for (const workspace of deps.workspaces) {
    if ((wanted !== undefined && wanted !== workspace) || !readsWorkspace(subscription, workspace)) continue;
    const offset = await offsets.get(workspace, subscription.name);
    // Without an offset the subscription has not started; its option `start` decides where it will.
    if (offset === null) continue;
    const last = to !== undefined && compareLogIds(to, offset) < 0 ? to : offset;
    const after = parseBeginning(from, deps.timeZoneOf(workspace)) ?? BEFORE_ALL;
    const only = filter.failed === true ? await failedIn({ workspace, after, last }, deps) : undefined;
    tasks.push({ kind: 'replay', id, workspace, after, last, ...filterOf(filter), ...(only && { only }), sent: 0 });
  }
  return tasks;
}

/** @throws ChangefeedError CF_USAGE when nothing can match */
function filterOf({ record, types, where }: Partial<ReplayCall>) {
  if (where !== undefined) checkConditions(where, 'replay, where');
  return {
    ...(record !== undefined && { record }),
    ...(types !== undefined && { types }),
    ...(where !== undefined && { where }),
  };
}

/** A task has them all in it. */
const MOST_FAILED = 10_000;

/** Log ids of events whose newest receipt says dead and that are no dead letters now, ascending; the newest 10,000. */
async function failedIn(
  { workspace, after, last }: { workspace: string; after: string; last: string },
  { subscription, receipts, queue, clock }: ReplayDeps,
): Promise<string[]> {
  const { name, receipts: kept } = subscription;
  if (kept == null) throw usage(`replay, failed: "${name}" keeps no receipts (its option receipts is false).`);
  const search = { sinceMs: clock.now() - kept.ageMs };
  const place = { subscription: name, workspace };
  const dead = new Set<string>();
  for await (const { eventId } of receipts.search(place, { ...search, outcomes: ['dead'] })) dead.add(eventId);
  for (const id of await jobIdsIn(queue, ['failed'])) dead.delete(idsOf(id).eventId);
  const found: string[] = [];
  // Newest first: the first receipt of an event is its last outcome.
  for await (const receipt of receipts.search(place, { ...search, eventIds: [...dead] })) {
    const { eventId, logId, outcome, digest, error } = receipt;
    // That a person dropped the dead letter is no delivery of the event.
    if (outcome === 'skipped' && error === 'dropped') continue;
    if (digest !== undefined || !dead.delete(eventId) || outcome !== 'dead') continue;
    if (compareLogIds(logId, after) > 0 && compareLogIds(logId, last) <= 0) found.push(logId);
  }
  return found.toSorted(compareLogIds).slice(-MOST_FAILED);
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
  const { subscription, backfills, gate, clock, highWater = mostSentAgain(subscription) } = deps;
  let furthest = first;
  for (;;) {
    const tasks = (await backfills.tasks(subscription.name)).filter(isReplay);
    const stored = tasks.find(({ task }) => task.id === first.id && task.workspace === first.workspace);
    // Another process has sent the rest, or a person has stopped it: what was entered last says how far it came.
    if (stored === undefined) {
      const entered = await gate.lastEntered(subscription.name, `${first.id}:${first.workspace}`);
      return entered === null ? furthest : await countAll({ ...furthest, last: entered }, call, deps);
    }
    if (call.signal?.aborted === true) return stored.task;
    const { events: pending } = await gate.pending(subscription.name, first.workspace);
    if (pending >= highWater) await clock.sleep(FULL_WAIT_MS);
    else {
      furthest = await step(stored, highWater - pending, deps);
      call.onProgress?.(furthest.sent);
    }
  }
}

/** @returns the task as it was where another process was faster, or a person has stopped it: then nothing may have been sent */
async function step(stored: StoredTask<ReplayTask>, room: number, deps: SubscriptionContext): Promise<ReplayTask> {
  const { id, workspace } = stored.task;
  const { selected, next, isLast } = upTo(room, stored.task, await nextBatch(stored.task, deps));
  await enqueueEvents(selected, { ...deps, workspace, origin: id, readAt: stored }, deps);
  const to = { to: isLast ? null : next, entered: selected.at(-1)?.logId };
  const hasMoved = await deps.backfills.step(deps.subscription.name, stored, to);
  return hasMoved ? next : stored.task;
}

interface Batch {
  selected: readonly LoggedEvent[];
  next: ReplayTask;
  isLast: boolean;
}

/** The part of a batch for which there is room. */
function upTo(room: number, before: ReplayTask, batch: Batch): Batch {
  const selected = batch.selected.slice(0, room);
  const after = selected.at(-1)?.logId;
  if (after === undefined || selected.length === batch.selected.length) return batch;
  const only = before.only?.filter((id) => compareLogIds(id, after) > 0);
  return { selected, next: { ...before, ...(only && { only }), after, sent: before.sent + room }, isLast: false };
}

/** The events to send next, and the task after them. The last batch has nothing after it: the log may return few. */
async function nextBatch(task: ReplayTask, deps: SubscriptionContext): Promise<Batch> {
  const { log, subscription } = deps;
  if (task.only !== undefined) return await nextOfThese(task.only, task, deps);
  const batch = await log.read(task.workspace, { from: task.after, to: task.last, limit: BATCH });
  const selected = selectedOf(task, batch, subscription);
  const after = batch.at(-1)?.logId ?? task.after;
  const isLast = batch.length === 0 || compareLogIds(after, task.last) >= 0;
  return { selected, next: { ...task, after, sent: task.sent + selected.length }, isLast };
}

/** Events that the log has dropped are left out. */
async function nextOfThese(only: readonly string[], task: ReplayTask, { log, subscription }: SubscriptionContext) {
  const [ids, rest] = [only.slice(0, BATCH), only.slice(BATCH)];
  const events = await Promise.all(ids.map((id) => log.stored(task.workspace, id)));
  const selected = selectedOf(
    task,
    events.filter((one) => one !== null),
    subscription,
  );
  const after = ids.at(-1) ?? task.after;
  return {
    selected,
    next: { ...task, only: rest, after, sent: task.sent + selected.length },
    isLast: rest.length === 0,
  };
}

function selectedOf(
  { record, types, where }: ReplayTask,
  events: readonly LoggedEvent[],
  subscription: Subscription,
): LoggedEvent[] {
  const isType = types === undefined ? () => true : compileTypes({ on: types });
  const holdsIn = where === undefined ? () => true : compileWhere(where);
  const holds = (event: ChangeEvent): boolean => holdsIn(event, workspaceOfEvent(event, subscription));
  const selects = compileSelection(subscription);
  return events.filter(
    ({ event }) => (record ?? event.subject) === event.subject && isType(event.type) && selects(event) && holds(event),
  );
}

function invalidOffset(option: string, found: string, allowed: string): ChangefeedError {
  return usage(`replay, ${option}: found "${found}"; allowed: ${allowed}.`);
}
