/** Reads the logs into the queues. Questions and commands need no `start`: queues are opened on first use. */
import { compareLogIds } from '../events/log-id.js';
import type { Subscription } from './handlers/handler.js';
import { runLoop } from '../kit/loop.js';
import { enforcePaused, noteMissing, pause, resume } from './run/circuit-breaker.js';
import { DeadLetters } from './act/dead-letters.js';
import { createLostJobs } from './run/lost-jobs.js';
import { readsWorkspace } from '../events/pattern.js';
import { usage } from '../kit/errors.js';
import type { DispatchContext, SubscriptionContext } from './stores.js';
import { openQueues, type QueueKeys, type Queues, type Connect } from './queues.js';
import { describeDeliveries } from './receipts/describe-subscription.js';
import { findDeliveries, type DeliveriesQuery } from './receipts/find-deliveries.js';
import { startReaders } from './run/reader.js';
import { HIGH_WATER, replay, type ReplayCall, type Replayed } from './act/replay.js';
import { skipSubscription, stopAndDrop, type SkipCall, type Skipped } from './act/skip.js';
import { isSnapshotRunning, Snapshot } from './act/snapshot.js';
import { leftBehind } from './ask/left-behind.js';
import { describeSubscriptions } from './ask/statistics.js';
import { trySubscription, type TryCall } from './ask/try.js';
import { openCopy, type Copy } from './verify/copy.js';
import type { Verified } from './verify/verified.js';
import { verifyCopy, type VerifyOptions } from './verify/verify.js';
import type { Tried } from './ask/tried.js';

export interface DispatcherOptions extends DispatchContext {
  connect: Connect;
  keys: QueueKeys;
  /** Pending events per subscription and workspace above which no more are read from the log. @defaultValue 5000 */
  highWater?: number;
  /** How often jobs gone from a queue are searched for; ms, at least a job's lock. @defaultValue 60000 */
  lostJobsMs?: number;
}

export interface WaitOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

interface Unhandled {
  subscription: string;
  workspace: string;
  /** `reading`: it has not read the log up to the log id. `handling`: some events are neither handled nor dead. */
  stage: 'reading' | 'handling';
}

export type WaitResult = { outcome: 'handled' } | { outcome: 'timeout'; unhandled: readonly Unhandled[] };

export type Dispatcher = ReturnType<typeof createDispatcher>;

const CHECK_INTERVAL_MS = 50;
/** Longer than a lock: a run whose job is gone notices in that time; until then its record must get no other job. */
const LOST_JOBS_MS = 60_000;

/** Reads the log, and searches for jobs that are gone. */
function createReading(withQueues: () => DispatcherOptions & { queues: Queues }) {
  const abort = new AbortController();
  let readers: Awaited<ReturnType<typeof startReaders>> | undefined;
  let searching: Promise<void> | undefined;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    readers = await startReaders({ highWater: HIGH_WATER, ...withQueues(), signal: abort.signal });
    searching = searchLostJobs(withQueues(), abort.signal);
  };
  const stop = async (): Promise<void> => {
    await starting?.catch(() => undefined);
    abort.abort();
    await Promise.all([readers?.ended(), searching]);
  };
  return {
    /** Resolves when every subscription has its offset in every log, or has failed to get it and tries again. */
    start: (): Promise<void> => (starting ??= start()),
    stop: (): Promise<void> => (stopping ??= stop()),
    /** A rule that is saved while the dispatcher runs. @param configReadAtMs as of a configuration */
    add: async (subscription: Subscription, configReadAtMs: number) => await readers?.add(subscription, configReadAtMs),
    /** Resolves when this process enters nothing more of the log for it. */
    remove: async (name: string) => await readers?.remove(name),
    /** One that comes while the dispatcher runs. Each subscription begins at its `start`; `now` is this moment. */
    addWorkspace: async (workspace: string, readAtMs: number) => await readers?.addWorkspace(workspace, readAtMs),
    /** Resolves when this process enters nothing more of its log. */
    removeWorkspace: async (workspace: string) => await readers?.removeWorkspace(workspace),
  };
}

export function createDispatcher(options: DispatcherOptions) {
  let queues: Queues | undefined;
  const opened = (): Queues => (queues ??= openQueues(options));
  const withQueues = () => ({ ...options, queues: opened() });
  const reading = createReading(withQueues);
  const chosen = (name: string) => {
    const queue = opened().of(name);
    // `of` throws for an unknown subscription.
    return { queue, subscription: options.subscriptions.find((one) => one.name === name) as Subscription };
  };
  const former = (subscription: Subscription): SubscriptionContext => {
    return { ...options, subscription, queue: opened().former(subscription.name) };
  };
  return {
    ...reading,
    async close(): Promise<void> {
      await reading.stop();
      await queues?.close();
    },
    /** Leaves paused subscriptions, digests and consumers out. @throws the signal's reason when aborted */
    waitUntilHandled: (wait: WaitOptions) => waitUntilHandled(wait, options),
    statistics: () => describeSubscriptions(opened(), options),
    /** Events under names of subscriptions that no process has configured. */
    leftBehind: () => leftBehind(withQueues()),
    get deadLetters() {
      return new DeadLetters(opened(), options);
    },
    // The following throw a ChangefeedError `CF_USAGE` when there is no such subscription.
    replay: async (call: ReplayCall): Promise<Replayed> =>
      await replay(call, { ...options, ...withQueue(chosen(call.subscription), 'replay') }),
    try: async (name: string, call: TryCall = {}): Promise<Tried> =>
      await trySubscription(call, { ...options, ...chosen(name) }),
    /** Also `CF_DATABASE_FAILED`. */
    verify: async (name: string, copy?: Copy, call: VerifyOptions = {}): Promise<Verified> => {
      const deps = { ...options, ...chosen(name) };
      return await verifyCopy(copy === undefined ? undefined : await openCopy(copy, options.clock.now()), call, deps);
    },
    /** Begins a snapshot of each workspace. @param epochs by workspace, the epoch of its state and since when */
    snapshot: async (name: string, epochs: Epochs) =>
      await beginSnapshots(epochs, { ...options, ...withQueue(chosen(name), 'snapshot') }),
    deliveries: (query: DeliveriesQuery = {}) => findDeliveries(query, options),
    describeSubscription: (name: string) => describeDeliveries(name, options),
    stopReplay: async (name: string, id?: string) => await stopAndDrop(id, { ...options, ...chosen(name) }),
    skip: async (name: string, call: SkipCall = {}): Promise<Skipped> =>
      await skipSubscription(call, { ...options, ...chosen(name) }),
    /** Its place in the logs is their end, whatever it has read before, and nothing waits: for one that is configured next. */
    beginNow: (subscription: Subscription) => beginNow(former(subscription)),
    /** Drops what waits for one that is switched off. Its place in the logs is forgotten. */
    dropFormer: (subscription: Subscription) => dropFormer(former(subscription)),
    pause: async (subscription: string, reason = 'paused manually') => await pause(subscription, reason, withQueues()),
    resume: async (subscription: string) => await resume(subscription, withQueues()),
    enforcePaused: () => enforcePaused(withQueues()),
    /** Logs, once per subscription, that events were dropped from the log which it has not read. */
    noteMissing: (subscriptions: readonly string[]) => noteMissing(subscriptions, options),
    /** BullMQ's export of each queue, in the text format of Prometheus. */
    exportQueues: () => Promise.all([...opened().all.values()].map((queue) => queue.exportPrometheusMetrics())),
  };
}

function withQueue<Chosen extends { subscription: Subscription }>(chosen: Chosen, what: string): Chosen {
  const { name, digest, report, pull } = chosen.subscription;
  if (pull !== undefined && what !== 'replay')
    throw usage(`${what}: the consumer "${name}" asks for the events of the log itself: nothing is sent to it.`);
  if (digest === undefined && report === undefined) return chosen;
  const which = report === undefined ? 'handles its events in digests' : 'gets reports and no events';
  throw usage(`${what}: the subscription "${name}" ${which}: single events are not sent to it.`);
}

type Epochs = ReadonlyMap<string, { epoch: number; since: string }>;

async function beginSnapshots(epochs: Epochs, deps: SubscriptionContext): Promise<string[]> {
  const begun: string[] = [];
  for (const [workspace, after] of epochs) {
    if (!readsWorkspace(deps.subscription, workspace)) continue;
    await new Snapshot({ ...deps, workspace }).beginNow(after);
    begun.push(workspace);
  }
  return begun;
}

async function beginNow(deps: SubscriptionContext): Promise<void> {
  const { workspaces, log, offsets, subscription } = deps;
  for (const workspace of workspaces.filter((name) => readsWorkspace(subscription, name))) {
    const end = await log.tail(workspace);
    const from = await offsets.begin(workspace, subscription.name, end);
    if (from !== null && from !== end) await offsets.advance(workspace, subscription.name, { from, to: end });
  }
  // What was handled when it was switched off has not been dropped then, and waits if it has failed.
  await skipSubscription({}, deps);
}

/** A place that stays would be that of a backup: what was logged before it is switched on again would be sent once that is restored. */
async function dropFormer(deps: SubscriptionContext): Promise<void> {
  await skipSubscription({}, deps);
  const { workspaces, offsets, subscription } = deps;
  for (const workspace of workspaces) await offsets.forget(workspace, subscription.name);
}

function searchLostJobs(options: DispatcherOptions & { queues: Queues }, signal: AbortSignal): Promise<void> {
  const { watch, loops, logger, clock, lostJobsMs = LOST_JOBS_MS } = options;
  const findLostJobs = createLostJobs(options);
  return runLoop({
    name: 'lost jobs',
    async run(_turn, alive) {
      await findLostJobs(alive);
      return lostJobsMs;
    },
    ready: (within) => watch.untilUsable(within),
    signal,
    log: logger,
    clock,
    loops,
  });
}

async function waitUntilHandled({ timeoutMs, signal }: WaitOptions, options: DispatcherOptions): Promise<WaitResult> {
  const { clock, log, workspaces } = options;
  const deadline = clock.monotonic() + timeoutMs;
  const tails = await Promise.all(workspaces.map(async (name) => [name, await log.tail(name)] as const));
  for (;;) {
    signal?.throwIfAborted();
    const unhandled = await findUnhandled(tails, options);
    if (unhandled.length === 0) return { outcome: 'handled' };
    if (clock.monotonic() >= deadline) return { outcome: 'timeout', unhandled };
    await clock.sleep(CHECK_INTERVAL_MS, signal);
  }
}

/** Leaves paused subscriptions out: waiting for them would not end. @param tails pairs of workspace and log id */
async function findUnhandled(
  tails: readonly (readonly [string, string])[],
  options: DispatcherOptions,
): Promise<Unhandled[]> {
  const { subscriptions, offsets, gate, health } = options;
  const checks = tails.flatMap(([workspace, logId]) =>
    subscriptions.map(async (one): Promise<Unhandled[]> => {
      // The events of a digest wait for its moment, and those of a consumer until it asks.
      if (!readsWorkspace(one, workspace) || one.digest !== undefined || one.pull !== undefined) return [];
      const subscription = one.name;
      // The offset first, then the pending events: events read in between are then seen as pending.
      const offset = await offsets.get(workspace, subscription);
      const isBehind = offset === null || compareLogIds(offset, logId) < 0;
      if (isBehind || (await isSnapshotRunning({ name: subscription, workspace }, options)))
        return [{ subscription, workspace, stage: 'reading' }];
      const { oldest } = await gate.pending(subscription, workspace);
      if (oldest === null || compareLogIds(oldest, logId) > 0) return [];
      return [{ subscription, workspace, stage: 'handling' }];
    }),
  );
  const unhandled = (await Promise.all(checks)).flat();
  const states = await Promise.all(unhandled.map(({ subscription }) => health.read(subscription)));
  return unhandled.filter((_, index) => states[index]?.paused === null);
}
