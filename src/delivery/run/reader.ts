/**
 * Reads the logs into the queues, one loop per subscription and workspace. After a crash steps are repeated from the
 * old offset, and `enqueue` recognises what was done. A slow subscription stops when too many events are pending.
 */
import { BEFORE_ALL, compareLogIds, offsetBefore, parseBeginning } from '../../events/log-id.js';
import { isForgetting } from '../../events/notices.js';
import type { ChangeEvent, LoggedEvent } from '../../events/types.js';
import type { Schedule, Subscription } from '../handlers/handler.js';
import type { ChangefeedError } from '../../kit/errors.js';
import { runLoop } from '../../kit/loop.js';
import { optionsError } from '../../kit/schema/problem.js';
import { enqueueEvents, loggedAt, originOf } from '../deliveries.js';
import { planDigestIn, planNext, scheduledJob, scheduleOf } from '../scheduled-job.js';
import { compileSelection, readsWorkspace } from '../../events/pattern.js';
import type { DispatchContext } from '../stores.js';
import { snapshotNameOf, type StoredTask } from '../act/backfills.js';
import type { Queues } from '../queues.js';
import { FULL_WAIT_MS, stepReplay } from '../act/replay.js';
import { shareLog, type SharedLog } from './shared-log.js';
import { Snapshot, type SnapshotOptions } from '../act/snapshot.js';

const BATCH = 250;
/** How often it looks for replays, unless it has found one. */
const TASKS_INTERVAL_MS = 2_000;
/** How often it looks whether a digest has gone, or one is still to be planned. */
const PLANNED_WAIT_MS = 2_000;
/** What was beyond the limit before goes first, where a digest found nothing left. */
const AFTER_OTHERS_MS = 500;
/** A process may be stopped until shortly before a report, and started again. */
const REPORTS_INTERVAL_MS = 10_000;

interface ReadersOptions extends DispatchContext {
  queues: Queues;
  highWater: number;
  signal: AbortSignal;
}

type Running = { stop: AbortController; ended: Promise<unknown> };

async function ended({ stop, ended }: Running): Promise<void> {
  stop.abort();
  await ended;
}

/** Resolves when each reader has tried to begin; a failed one tries again. */
export async function startReaders(options: ReadersOptions) {
  const { signal } = options;
  const logs = new Map<string, SharedLog & Running>();
  const subscribed = new Map<string, Running & { subscription: Subscription; readers: Map<string, Running> }>();
  const follow = (workspace: string): void => {
    const stop = new AbortController();
    const shared = shareLog({ ...options, workspace });
    logs.set(workspace, { ...shared, stop, ended: shared.run(AbortSignal.any([signal, stop.signal])) });
  };
  /** Resolves when the reader has tried to begin. */
  const read = async (name: string, workspace: string, configReadAtMs = options.configReadAtMs): Promise<void> => {
    const [one, shared] = [subscribed.get(name), logs.get(workspace)];
    if (one === undefined || shared === undefined || !readsWorkspace(one.subscription, workspace)) return;
    const { subscription } = one;
    const stop = new AbortController();
    const own = { ...options, configReadAtMs, signal: AbortSignal.any([signal, one.stop.signal, stop.signal]) };
    const [selects, queue] = [compileSelection(subscription), options.queues.of(name)];
    const reader = new SubscriptionReader({ ...own, workspace, shared, subscription, selects, queue });
    const begun = reader.begin().catch(() => undefined);
    one.readers.set(workspace, { stop, ended: begun.then(() => runReader(reader, own)) });
    await begun;
  };
  const add = async (subscription: Subscription, configReadAtMs?: number): Promise<void> => {
    const stop = new AbortController();
    const planning = planWithoutEvents(subscription, { ...options, signal: AbortSignal.any([signal, stop.signal]) });
    subscribed.set(subscription.name, { subscription, readers: new Map(), stop, ended: planning });
    await Promise.all([...logs.keys()].map((workspace) => read(subscription.name, workspace, configReadAtMs)));
  };
  /** What it reads, and the plan of what is no event. */
  const allOf = ({ readers, ...planning }: Running & { readers: Map<string, Running> }): Running[] => [
    ...readers.values(),
    planning,
  ];
  for (const workspace of options.workspaces) follow(workspace);
  await Promise.all(options.subscriptions.map((one) => add(one)));
  return {
    /** Resolves when its readers have tried to begin. */
    add,
    /** Resolves when its readers have ended. */
    async remove(name: string): Promise<void> {
      const one = subscribed.get(name);
      if (one === undefined) return;
      await Promise.all(allOf(one).map(ended));
      subscribed.delete(name);
    },
    /** @param configReadAtMs when it came, by the monotonic clock */
    async addWorkspace(workspace: string, configReadAtMs: number): Promise<void> {
      if (logs.has(workspace)) return;
      follow(workspace);
      await Promise.all([...subscribed.keys()].map((name) => read(name, workspace, configReadAtMs)));
    },
    /** Resolves when nothing of its log is read any more. */
    async removeWorkspace(workspace: string): Promise<void> {
      const reading = [...subscribed.values()].flatMap(({ readers }) => readers.get(workspace) ?? []);
      const log = logs.get(workspace);
      await Promise.all([...reading, ...(log === undefined ? [] : [log])].map(ended));
      for (const { readers } of subscribed.values()) readers.delete(workspace);
      logs.delete(workspace);
    },
    ended: (): Promise<unknown> =>
      Promise.all([...logs.values(), ...[...subscribed.values()].flatMap(allOf)].map(({ ended: end }) => end)),
  };
}

function runReader(reader: SubscriptionReader, options: ReadersOptions): Promise<void> {
  const { watch, loops, logger: log, clock, signal } = options;
  const ready = (within: AbortSignal): Promise<void> => watch.untilUsable(within);
  // The signal of the turn, which also ends a turn that has stalled.
  const run = (turn: AbortSignal): Promise<number> => reader.turn(turn);
  return runLoop({ name: reader.name, run, ready, signal, log, clock, loops });
}

/** Plans what is done at a time of day whatever the log has: a report, or a comparison. A digest is planned where it has events. */
async function planWithoutEvents(subscription: Subscription, options: ReadersOptions): Promise<void> {
  const { name, digest, workspaces: wanted } = subscription;
  const schedule = scheduleOf(subscription);
  if (schedule === undefined || digest !== undefined) return;
  const { workspaces, queues, watch, logger: log, clock, loops, signal } = options;
  const queue = queues.of(name);
  const plan = async (): Promise<number> => {
    for (const workspace of workspaces.filter((one) => wanted?.includes(one) ?? true))
      await planNext(queue, { workspace, schedule }, options);
    return REPORTS_INTERVAL_MS;
  };
  const ready = (within: AbortSignal): Promise<void> => watch.untilUsable(within);
  await runLoop({ name: `plan ${name}`, run: plan, ready, signal, log, clock, loops });
}

const DRAINING = 'subscription has an order now: it reads on when what waits from before is handled or dead';

interface ReaderOptions extends SnapshotOptions {
  selects: (event: ChangeEvent) => boolean;
  shared: SharedLog;
  /** Pending events of this subscription and workspace above which no more are read. */
  highWater: number;
}

class SubscriptionReader {
  readonly name: string;
  readonly #options: ReaderOptions;
  readonly #snapshot: Snapshot;
  #hasBegun = false;
  /** As it was read last. */
  #offset = BEFORE_ALL;
  /** It was `order: 'none'`: it reads on when nothing waits that has no ordering group. */
  #isDraining = false;
  #tasksReadAtMs = Number.NEGATIVE_INFINITY;
  /** Since when there have been tasks; null: there are none. */
  #tasksSinceMs: number | null = null;
  /** As it was when the last batch was entered. */
  #pending: number;

  constructor(options: ReaderOptions) {
    this.name = `dispatch ${options.workspace} to ${options.subscription.name}`;
    this.#options = options;
    this.#snapshot = new Snapshot(options);
    this.#pending = options.highWater;
  }

  async begin(): Promise<void> {
    if (this.#hasBegun) return;
    const { workspace, subscription, offsets, logger } = this.#options;
    await this.#beginAtStart();
    this.#offset = (await offsets.get(workspace, subscription.name)) ?? BEFORE_ALL;
    const isOrdered = subscription.order !== 'none';
    const wasUnordered = await offsets.wasUnordered(workspace, subscription.name, isOrdered);
    this.#isDraining = isOrdered && wasUnordered;
    this.#hasBegun = true;
    if (this.#isDraining) logger.info({ workspace, subscription: subscription.name }, DRAINING);
  }

  /** The events of a record must not get past those of it that were entered without an order. */
  async #mustDrain(): Promise<boolean> {
    await this.begin();
    if (!this.#isDraining) return false;
    const { workspace, subscription, offsets, gate } = this.#options;
    if ((await gate.pending(subscription.name, workspace)).events > 0) return true;
    await offsets.setOrdered(workspace, subscription.name);
    this.#isDraining = false;
    return false;
  }

  /** Queues one batch, or waits for one. Returns how long to wait before the next turn, in ms. */
  async turn(signal: AbortSignal): Promise<number> {
    const { subscription, workspace, offsets, shared } = this.#options;
    if (await this.#mustDrain()) return FULL_WAIT_MS;
    // The tasks first: if a snapshot has ended by then, everything it skipped lies before the offset.
    const tasks = await this.#readTasks();
    const after = await this.#readOffset();
    if (await this.#isFull()) return FULL_WAIT_MS;
    const replayed = await stepReplay(tasks, workspace, this.#options);
    const mayStep = !this.#snapshot.isLater(tasks) || this.#areTasksKnown();
    if (mayStep && (await this.#snapshot.step(tasks, after))) return 0;
    if (subscription.digest !== undefined) return await this.#planDigest(subscription.digest, after, signal);
    if (subscription.pull !== undefined) return await this.#passOver(after, signal);

    const read = await shared.read(after, BATCH);
    const batch = await this.#upToRewind(read);
    const last = batch.at(-1);
    if (last === undefined) {
      await this.#options.log.checkOffset(workspace, after);
      const waitMs = mayStep ? this.#snapshot.waitMs : TASKS_INTERVAL_MS;
      if (replayed !== 'sent') await shared.waitAfter(after, signal, replayed === 'full' ? FULL_WAIT_MS : waitMs);
      return 0;
    }
    const sendable = tasks.length > 0 ? await this.#snapshot.sendable(batch, after) : { events: batch, to: last.logId };
    if (sendable === null) return 0;
    const selected = sendable.events.filter(({ event }) => this.#options.selects(event));
    const allowed = await this.#allowed(selected.length);
    if (allowed === null) return PLANNED_WAIT_MS;
    const entered = selected.slice(0, allowed.messages);
    const enqueued = await enqueueEvents(entered, { ...this.#options, readAt: { offset: after } }, this.#options);
    this.#pending = enqueued ?? this.#pending;
    const isCut = entered.length < selected.length;
    const lastEntered = entered.at(-1)?.logId;
    const to = isCut ? (lastEntered ?? after) : sendable.to;
    await offsets.advance(workspace, subscription.name, {
      ...{ from: after, to, entered: lastEntered },
      // A snapshot was begun, which must not be forgotten.
      ...(batch !== read && { task: snapshotNameOf(workspace) }),
    });
    if (isCut) await planDigestIn(this.#options.queue, workspace, allowed.endsInMs + AFTER_OTHERS_MS);
    return 0;
  }

  /** The events wait in the log. */
  async #planDigest(schedule: Schedule, after: string, signal: AbortSignal): Promise<number> {
    const { workspace, shared, queue } = this.#options;
    if ((await shared.read(after, 1)).length === 0) {
      await this.#options.log.checkOffset(workspace, after);
      await shared.waitAfter(after, signal);
      return 0;
    }
    await planNext(queue, { workspace, schedule }, this.#options);
    return PLANNED_WAIT_MS;
  }

  /** A consumer reads the log itself. What it does not select before its next event is passed over, so that only what it has not asked for is late. */
  async #passOver(after: string, signal: AbortSignal): Promise<number> {
    const { subscription, workspace, shared, selects, batches } = this.#options;
    const [next] = await shared.read(after, 1);
    if (next === undefined) {
      await this.#options.log.checkOffset(workspace, after);
      await shared.waitAfter(after, signal);
      return 0;
    }
    if (selects(next.event)) return PLANNED_WAIT_MS;
    const batch = await shared.read(after, BATCH);
    const wanted = batch.findIndex(({ event }) => selects(event));
    const to = (wanted < 0 ? batch : batch.slice(0, wanted)).at(-1)?.logId ?? after;
    const stretches = [{ workspace, from: after, to, first: '', events: 0 }];
    const taken = await batches.take(subscription.name, { id: null, visibilityMs: null, after: '', stretches });
    return taken === 'busy' ? PLANNED_WAIT_MS : 0;
  }

  /** How many of these events may be handled one by one. Null: a digest will have them, or is reading them. */
  async #allowed(messages: number): Promise<{ messages: number; endsInMs: number } | null> {
    const { workspace, subscription, queue, allowance } = this.#options;
    const { mostPerMinute: most } = subscription;
    if (most === undefined) return { messages, endsInMs: 0 };
    if ((await scheduledJob(queue, workspace)) !== undefined) return null;
    if (messages === 0) return { messages, endsInMs: 0 };
    return await allowance.take(subscription, { messages, most });
  }

  /** Begins a snapshot where the batch reports that Redis forgot something, and the subscription wants one then. */
  async #upToRewind(batch: readonly LoggedEvent[]): Promise<readonly LoggedEvent[]> {
    if (this.#options.subscription.afterRewind !== 'snapshot') return batch;
    const at = batch.findIndex(({ event }) => isForgetting(event));
    const found = batch[at];
    if (found === undefined) return batch;
    await this.#snapshot.beginAfter(found.event);
    this.#tasksReadAtMs = Number.NEGATIVE_INFINITY;
    return batch.slice(0, at + 1);
  }

  /** What is found a little later can wait: a replay, or a snapshot that another dispatcher has begun. */
  async #readTasks(): Promise<readonly StoredTask[]> {
    const { backfills, subscription, clock } = this.#options;
    if (clock.monotonic() - this.#tasksReadAtMs < TASKS_INTERVAL_MS) return [];
    await this.begin();
    const tasks = await backfills.tasks(subscription.name);
    if (tasks.length === 0) this.#tasksReadAtMs = clock.monotonic();
    this.#tasksSinceMs = tasks.length === 0 ? null : (this.#tasksSinceMs ?? clock.monotonic());
    return tasks;
  }

  /** All dispatchers: one that has not found the tasks would read the log beyond what a snapshot contains. */
  #areTasksKnown(): boolean {
    const sinceMs = this.#tasksSinceMs;
    return sinceMs !== null && this.#options.clock.monotonic() - sinceMs > TASKS_INTERVAL_MS;
  }

  /** Always the stored one: Redis may have gone back to an earlier state, and another dispatcher may have gone on. */
  async #readOffset(): Promise<string> {
    const { workspace, subscription, offsets } = this.#options;
    await this.begin();
    this.#offset = (await offsets.get(workspace, subscription.name)) ?? (await this.#beginAgain());
    return this.#offset;
  }

  async #isFull(): Promise<boolean> {
    const { workspace, subscription, gate, highWater } = this.#options;
    if (this.#pending >= highWater) this.#pending = (await gate.pending(subscription.name, workspace)).events;
    return this.#pending >= highWater;
  }

  /**
   * The stored offset is gone. Where Redis has gone back to before it was stored, the log that is back is of the time before the subscription; what
   * was logged since is found again, with higher ids.
   */
  async #beginAgain(): Promise<string> {
    const { workspace, subscription, offsets, logger } = this.#options;
    logger.warn({ workspace, subscription: subscription.name }, 'log offset lost, reading on from where it last was');
    return (await offsets.begin(workspace, subscription.name, this.#offset)) ?? this.#offset;
  }

  async #beginAtStart(): Promise<void> {
    const { workspace, subscription, offsets, timeZoneOf } = this.#options;
    const isSnapshot = subscription.start === 'snapshot';
    for (let begun: string | null = null; begun === null;) {
      const outdated = await this.#snapshot.stored();
      if ((await offsets.get(workspace, subscription.name)) !== null) return;
      if (isSnapshot) await this.#snapshot.begin(outdated);
      const { start } = subscription;
      const first =
        typeof start === 'object' ? await this.#offsetAfter(start.after) : parseBeginning(start, timeZoneOf(workspace));
      // Where Redis has forgotten the snapshot since, there is no offset yet.
      const task = isSnapshot ? snapshotNameOf(workspace) : undefined;
      begun = await offsets.begin(workspace, subscription.name, first ?? (await this.#endWhenRead()), task);
    }
  }

  /**
   * Before the first event of the log that `former` has not handled. What it has queued counts: nothing else would deliver it. Undefined: it
   * does not read this workspace.
   */
  async #offsetAfter(former: string): Promise<string | undefined> {
    const { workspace, workspaces, subscription, offsets, gate } = this.#options;
    // The offset first: what `former` enters meanwhile lies behind it.
    const stored = await Promise.all(workspaces.map((name) => offsets.get(name, former)));
    if (stored.every((offset) => offset === null)) throw unknownFormer(subscription, former);
    const offset = stored[workspaces.indexOf(workspace)] ?? undefined;
    if (offset === undefined) return undefined;
    const pending = await gate.pendingIds(former, workspace);
    const queued = pending.flatMap((id) => (originOf(id) === undefined ? (loggedAt(id) ?? []) : []));
    return [offset, ...queued.map(offsetBefore)].sort(compareLogIds)[0];
  }

  /** The end of the log when the configuration was read, by the clock of Redis. */
  async #endWhenRead(): Promise<string> {
    const { workspace, log, clock, configReadAtMs } = this.#options;
    const end = await log.tail(workspace);
    const serverMs = await log.serverMs();
    const then = offsetBefore(`${serverMs - (clock.monotonic() - configReadAtMs)}-0`);
    return compareLogIds(then, end) < 0 ? then : end;
  }
}

function unknownFormer({ name, handler }: Subscription, former: string): ChangefeedError {
  const owner = `${handler === 'custom' ? 'defineHandler' : handler} "${name}"`;
  const problem = `nothing is stored of a subscription "${former}"`;
  const suggestion = '"changefeed subscriptions list" shows the names that can be given; "now" begins without one.';
  return optionsError([{ path: ['start', 'after'], owner, problem, suggestion }]);
}
