/** From the log to the queues, for every subscription and workspace; and what there is to know about it. */
import type { Queue } from 'bullmq';
import type { Subscription } from '../handlers/handler.js';
import { isoTime, systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../runtime/redis-watch.js';
import { lastSuccessMs } from './circuit-breaker.js';
import type {
  Connect,
  Delivery,
  Disabled,
  BackfillStore,
  HealthStore,
  LogReader,
  OffsetStore,
  RecordGate,
  SnapshotSource,
} from './ports.js';
import { findUnhandled, measureLag, type Unhandled } from './progress.js';
import type { QueueKeys } from './queue-layout.js';
import { openQueues, type Queues } from './queues.js';
import { startReaders, type Readers } from './readers.js';

export interface DispatcherOptions {
  connect: Connect;
  keys: QueueKeys;
  log: LogReader;
  offsets: OffsetStore;
  gate: RecordGate;
  backfills: BackfillStore;
  source: SnapshotSource;
  health: HealthStore;
  subscriptions: readonly Subscription[];
  workspaces: readonly string[];
  logger: Log;
  clock?: Clock;
  /** Reading waits while Redis cannot be used. @defaultValue it never waits */
  watch?: RedisUse | undefined;
  /** Where loops that stand still are shown. */
  loops?: LoopBoard | undefined;
  /** Events of one subscription and workspace in its queue above which no more are read from the log. @defaultValue 5000 */
  highWater?: number;
}

export interface WaitOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface WaitCall extends WaitOptions {
  /** Per workspace, the log id up to and including which everything must be handled or dead. */
  upTo: Readonly<Record<string, string>>;
}

export type WaitResult = { outcome: 'handled' } | { outcome: 'timeout'; unhandled: readonly Unhandled[] };

export interface SubscriptionStatistics {
  name: string;
  handler: string;
  on: readonly string[];
  waiting: number;
  active: number;
  /** Waiting for a retry, or for their record's turn. */
  delayed: number;
  dead: number;
  paused: boolean;
  /** Since when and why it gets nothing delivered; null when it does. */
  disabled: Disabled | null;
  /** ISO 8601: the first of the failures without a success since; null when there is none. */
  failingSince: string | null;
  /** Events not read from the log yet (at most 1,000 per workspace are counted), and those read and neither handled nor dead. */
  lagEvents: number;
  /** Age of the oldest of these, in seconds; 0 without lag. */
  lagSeconds: number;
}

export interface Dispatcher {
  /** Resolves when every subscription has its place in every log: what is logged from then on reaches it. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** From here on these are the subscriptions. Resolves when those that go have stopped reading and those that come have begun. */
  apply(subscriptions: readonly Subscription[]): Promise<void>;
  /**
   * Resolves when every event up to the given log ids has been handled or become a dead letter, for every subscription that
   * is not disabled.
   * @throws the signal's reason when aborted
   */
  waitUntilHandled(options: WaitCall): Promise<WaitResult>;
  /** Also before `start` and beside a dispatcher of another process. */
  statistics(): Promise<SubscriptionStatistics[]>;
}

const LOOK_AGAIN_MS = 50;
const HIGH_WATER = 5_000;

export function createDispatcher(given: DispatcherOptions): Dispatcher {
  const options = { ...given, clock: given.clock ?? systemClock };
  const abort = new AbortController();
  let current = options.subscriptions;
  let queues: Queues | undefined;
  let readers: Readers | undefined;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const opened = (): Queues => (queues ??= openQueues({ ...options, subscriptions: current }));
  const now = (): Settled => ({ ...options, subscriptions: current });

  const start = async (): Promise<void> => {
    readers = startReaders({ highWater: HIGH_WATER, ...options, queues: opened(), signal: abort.signal });
    await readers.apply(current);
  };
  const stop = async (): Promise<void> => {
    await starting?.catch(() => undefined);
    abort.abort();
    await readers?.ended();
    await queues?.close();
  };
  return {
    start: () => (starting ??= start()),
    stop: () => (stopping ??= stop()),
    async apply(subscriptions) {
      current = subscriptions;
      queues?.apply(subscriptions);
      await starting;
      await readers?.apply(subscriptions);
    },
    waitUntilHandled: (wait) => waitUntilHandled(wait, now()),
    statistics: () => Promise.all(current.map((one) => describeSubscription(one, opened().of(one.name), now()))),
  };
}

type Settled = DispatcherOptions & { clock: Clock };

async function waitUntilHandled({ upTo, timeoutMs, signal }: WaitCall, options: Settled): Promise<WaitResult> {
  const { clock } = options;
  const deadline = clock.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const unhandled = await findUnhandled(upTo, options);
    if (unhandled.length === 0) return { outcome: 'handled' };
    if (clock.now() >= deadline) return { outcome: 'timeout', unhandled };
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

async function describeSubscription(
  subscription: Subscription,
  queue: Queue<Delivery>,
  options: Settled,
): Promise<SubscriptionStatistics> {
  const { name, handler, on } = subscription;
  const [counts, paused, lag, { failingSinceMs, disabled }, succeededMs] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'prioritized'),
    queue.isPaused(),
    measureLag(subscription, options),
    options.health.read(name),
    lastSuccessMs(queue),
  ]);
  const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
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
    failingSince: failingSinceMs === null || failingSinceMs <= succeededMs ? null : isoTime(failingSinceMs),
    lagEvents: lag.events,
    lagSeconds: lag.seconds,
  };
}
