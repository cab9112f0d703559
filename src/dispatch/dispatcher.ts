/**
 * The dispatcher: reads the logs into the queues for every subscription and workspace, reports their progress, and carries out the commands on
 * them. The questions and commands need no `start`: the queues are opened on first use.
 */
import type { Queue } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import { isoTime, systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../redis/watch.js';
import { disable, enable, enforceDisabled, lastSuccessMs, noteMissing } from './circuit-breaker.js';
import { DeadLetters } from './dead-letters.js';
import type { Connect, Disabled, DispatchStores, JobData, LastError } from './ports.js';
import { createLostJobs } from './lost-jobs.js';
import { findUnhandled, measureLag, type Unhandled } from './progress.js';
import { openQueues, type QueueKeys, type Queues } from './queues.js';
import { startReaders, type Readers } from './readers.js';
import { replay, type ReplayCall, type Replayed } from './replay.js';
import { findStalled, type Stalled } from './stalled.js';

export interface DispatcherOptions extends DispatchStores {
  subscriptions: readonly Subscription[];
  workspaces: readonly string[];
  connect: Connect;
  keys: QueueKeys;
  logger: Log;
  clock?: Clock;
  /** Reading waits while Redis cannot be used. @defaultValue Redis counts as always usable */
  watch?: RedisUse | undefined;
  /** Shows loops that have stalled. */
  loops?: LoopBoard | undefined;
  /** Pending events per subscription and workspace above which no more are read from the log. @defaultValue 5000 */
  highWater?: number;
  /** How often jobs are searched for that are gone from a queue; ms. Not shorter than the lock of a job. @defaultValue 60000 */
  lostJobsMs?: number;
}

export interface WaitOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface WaitCall extends WaitOptions {
  /** Per workspace, the log id up to and including which every event must be handled or dead. */
  upTo: Readonly<Record<string, string>>;
}

export type WaitResult = { outcome: 'handled' } | { outcome: 'timeout'; unhandled: readonly Unhandled[] };

export interface SubscriptionStatistics {
  name: string;
  handler: string;
  on: readonly string[];
  waiting: number;
  active: number;
  /** Waiting for a retry, or for their record to be quiet (`settle`). Events behind another one of their record are in `lagEvents`. */
  delayed: number;
  dead: number;
  paused: boolean;
  /** Since when and why nothing is delivered to it; null when it is enabled. */
  disabled: Disabled | null;
  /** ISO 8601: the first failure since the last success; null when there is none. */
  failingSince: string | null;
  /** Failed attempts since then; 0 when there is none. */
  failures: number;
  /** What the last of them said; null when there is none. */
  lastError: LastError | null;
  /** Ten or more events became dead letters in the last ten minutes, and were not retried or dropped. */
  manyDead: boolean;
  /** Events wait although nothing keeps them back; null when none does. */
  stalled: Stalled | null;
  /** Events not read from the log yet (at most 1,000 per workspace are counted), plus those read and neither handled nor dead. */
  lagEvents: number;
  /** Age of the oldest of these, in seconds; 0 without lag. */
  lagSeconds: number;
  /** Why its keys in Redis cannot be read, with the name of the key: all counts are then 0; null when they can. */
  unreadable: string | null;
}

export interface Dispatcher {
  /** Resolves when every subscription has its offset in every log: it gets every event that is logged from then on. */
  start(): Promise<void>;
  /** Stops reading. */
  stop(): Promise<void>;
  /** Stops reading and closes the queues. */
  close(): Promise<void>;
  /** Replaces the set of subscriptions. Resolves when removed ones have stopped reading and new ones have started. */
  apply(subscriptions: readonly Subscription[]): Promise<void>;
  /**
   * Resolves when every event up to the given log ids has been handled or become a dead letter, for every subscription that
   * is not disabled.
   * @throws the signal's reason when aborted
   */
  waitUntilHandled(options: WaitCall): Promise<WaitResult>;
  /** The same for all events that are in the logs now, and for those that are derived from them. */
  waitUntilAllHandled(options: WaitOptions): Promise<WaitResult>;
  statistics(): Promise<SubscriptionStatistics[]>;
  readonly deadLetters: DeadLetters;
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription or offset */
  replay(call: ReplayCall): Promise<Replayed>;
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  enable(subscription: string): Promise<Disabled | null>;
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  disable(subscription: string, reason: string): Promise<boolean>;
  /** Pauses the queues of disabled subscriptions, and resumes those of enabled ones, where they are not. Returns the names of all disabled ones. */
  enforceDisabled(): Promise<string[]>;
  /** Logs, once per subscription, that events were dropped from the log which it has not read. */
  noteMissing(subscriptions: readonly string[]): Promise<void>;
  /** BullMQ's export of each queue, in the text format of Prometheus. */
  exportQueues(): Promise<string[]>;
}

const CHECK_INTERVAL_MS = 50;
const HIGH_WATER = 5_000;
/** Longer than a lock: a run whose job is gone notices it within that time; until then its record must not get another job. */
const LOST_JOBS_MS = 60_000;

export function createDispatcher(given: DispatcherOptions): Dispatcher {
  const options = { ...given, clock: given.clock ?? systemClock };
  const abort = new AbortController();
  let current = options.subscriptions;
  let queues: Queues | undefined;
  let readers: Readers | undefined;
  let searching: Promise<void> | undefined;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const opened = (): Queues => (queues ??= openQueues({ ...options, subscriptions: current }));
  const now = (): CurrentOptions => ({ ...options, subscriptions: current });

  const start = async (): Promise<void> => {
    readers = startReaders({ highWater: HIGH_WATER, ...options, queues: opened(), signal: abort.signal });
    await readers.apply(current);
    searching = searchLostJobs({ ...options, queues: opened() }, () => current, abort.signal);
  };
  const stop = async (): Promise<void> => {
    await starting?.catch(() => undefined);
    abort.abort();
    await Promise.all([readers?.ended(), searching]);
  };
  return {
    start: () => (starting ??= start()),
    stop: () => (stopping ??= stop()),
    async close() {
      await (stopping ??= stop());
      await queues?.close();
    },
    async apply(subscriptions) {
      current = subscriptions;
      queues?.apply(subscriptions);
      await starting;
      await readers?.apply(subscriptions);
    },
    waitUntilHandled: (wait) => waitUntilHandled(wait, now()),
    waitUntilAllHandled: (wait) => waitUntilAllHandled(wait, now()),
    statistics: () => Promise.all(current.map((one) => describeSubscription(one, opened().of(one.name), now()))),
    get deadLetters() {
      return new DeadLetters(opened(), options.gate);
    },
    async replay(call) {
      const queue = opened().of(call.subscription);
      const subscription = current.find(({ name }) => name === call.subscription);
      // Not reached: `of` throws for an unknown subscription.
      if (subscription === undefined) return { events: 0, reached: {}, interrupted: false };
      return await replay(call, { ...options, queue, subscription });
    },
    enable: async (subscription) => await enable(subscription, { ...options, queues: opened() }),
    disable: async (subscription, reason) => await disable(subscription, reason, { ...options, queues: opened() }),
    enforceDisabled: async () => await enforceDisabled({ ...options, queues: opened() }),
    noteMissing: (subscriptions) => noteMissing(subscriptions, options),
    exportQueues: () => Promise.all([...opened().all.values()].map((queue) => queue.exportPrometheusMetrics())),
  };
}

function searchLostJobs(
  options: CurrentOptions & { queues: Queues },
  subscriptions: () => readonly Subscription[],
  signal: AbortSignal,
): Promise<void> {
  const { watch, loops, logger, clock, lostJobsMs = LOST_JOBS_MS } = options;
  const findLostJobs = createLostJobs(options);
  return runLoop({
    name: 'lost jobs',
    async run(_turn, alive) {
      await findLostJobs(subscriptions(), alive);
      return lostJobsMs;
    },
    ...(watch && { ready: (within) => watch.untilUsable(within) }),
    signal,
    log: logger,
    clock,
    ...(loops && { loops }),
  });
}

type CurrentOptions = DispatcherOptions & { clock: Clock };

async function waitUntilHandled({ upTo, timeoutMs, signal }: WaitCall, options: CurrentOptions): Promise<WaitResult> {
  const { clock } = options;
  const deadline = clock.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const unhandled = await findUnhandled(upTo, options);
    if (unhandled.length === 0) return { outcome: 'handled' };
    if (clock.now() >= deadline) return { outcome: 'timeout', unhandled };
    await clock.sleep(CHECK_INTERVAL_MS, signal);
  }
}

async function waitUntilAllHandled(wait: WaitOptions, options: CurrentOptions): Promise<WaitResult> {
  const { log, workspaces, subscriptions } = options;
  const waitForTails = async (): Promise<WaitResult> => {
    const tails = workspaces.map(async (name) => [name, await log.tail(name)] as const);
    return await waitUntilHandled({ ...wait, upTo: Object.fromEntries(await Promise.all(tails)) }, options);
  };
  const first = await waitForTails();
  // Derived events were appended behind their sources meanwhile. Nothing is derived from them, so a second wait is enough.
  const derives = subscriptions.some(({ handler }) => handler === 'derive');
  return derives && first.outcome === 'handled' ? await waitForTails() : first;
}

/** A damaged key of one subscription must not hide the others. */
async function describeSubscription(
  subscription: Subscription,
  queue: Queue<JobData>,
  options: CurrentOptions,
): Promise<SubscriptionStatistics> {
  try {
    return await readStatistics(subscription, queue, options);
  } catch (error) {
    if (!(error instanceof ChangefeedError) || error.code !== 'CF_STATE_UNREADABLE') throw error;
    return unreadableSubscription(subscription, error.message);
  }
}

function unreadableSubscription({ name, handler, on }: Subscription, unreadable: string): SubscriptionStatistics {
  const nothing = { waiting: 0, active: 0, delayed: 0, dead: 0, failures: 0, lagEvents: 0, lagSeconds: 0 };
  const well = { paused: false, manyDead: false, disabled: null, failingSince: null, lastError: null, stalled: null };
  return { name, handler, on, ...nothing, ...well, unreadable };
}

/** A few events that cannot be handled need a person some time. So many in so short a time mean that deliveries are lost until one acts. */
const MANY_DEAD = 10;
const MANY_WITHIN_MS = 600_000;

async function hasManyDead(queue: Queue<JobData>, nowMs: number): Promise<boolean> {
  const backend = queue.getBackend();
  const [[id] = []] = await backend.getRanges(['failed'], MANY_DEAD - 1, MANY_DEAD - 1, false);
  const job = id === undefined ? undefined : await backend.getJobData(id);
  return nowMs - (job?.finishedOn ?? 0) < MANY_WITHIN_MS;
}

async function readStatistics(
  subscription: Subscription,
  queue: Queue<JobData>,
  options: CurrentOptions,
): Promise<SubscriptionStatistics> {
  const { name, handler, on } = subscription;
  const nowMs = options.clock.now();
  const [counts, paused, lag, health, succeededMs, manyDead] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'prioritized'),
    queue.isPaused(),
    measureLag(subscription, options),
    options.health.read(name),
    lastSuccessMs(queue),
    hasManyDead(queue, nowMs),
  ]);
  const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
  const { failingSinceMs, failures, lastError, disabled } = health;
  const isFailing = failingSinceMs !== null && failingSinceMs > succeededMs;
  const facts = { subscription, queue, backfills: options.backfills, nowMs, succeededMs, paused, dead: failed };
  return {
    name,
    handler,
    on,
    waiting: waiting + prioritized,
    active,
    delayed,
    dead: failed,
    paused,
    disabled,
    failingSince: isFailing ? isoTime(failingSinceMs) : null,
    failures: isFailing ? failures : 0,
    lastError: isFailing || manyDead ? lastError : null,
    manyDead,
    stalled: disabled === null ? await findStalled(lag.oldest, { ...facts, planned: active + delayed }) : null,
    lagEvents: lag.events,
    lagSeconds: lag.seconds,
    unreadable: null,
  };
}
