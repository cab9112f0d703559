/** All handlers of one process: one worker per subscription. Starts and stops them together. */
import { ChangefeedError, messageOf } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import { systemClock, withinTime, type Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../redis/watch.js';
import { untraced, type Tracing } from '../runtime/tracing.js';
import { createUnfinished, type Unfinished } from '../runtime/unfinished.js';
import type { ComparisonOf } from './merge-changes.js';
import type { Connect, DeliveryStores } from './ports.js';
import type { DeadLetterRetention, QueueKeys } from './queues.js';
import { keepParts, type SubscriptionPart } from './subscription-parts.js';
import {
  DEFAULT_TIMING,
  createSubscriptionWorker,
  type SubscriptionWorker,
  type SubscriptionWorkerOptions,
  type WorkerTiming,
} from './worker.js';

export interface HandlerPoolOptions extends DeliveryStores {
  connect: Connect;
  keys: QueueKeys;
  subscriptions: readonly Subscription[];
  logger: Log;
  clock?: Clock;
  /** No event is taken while Redis accepts no writes. @defaultValue Redis counts as always writable */
  watch?: RedisUse | undefined;
  /** Shows workers that end again and again. */
  loops?: LoopBoard | undefined;
  /** Lists the events that are being handled. */
  unfinished?: Unfinished | undefined;
  /** In [0, 1); spreads retries. */
  random?: () => number;
  timing?: Partial<WorkerTiming>;
  /** How detection compares the records of a list; debounce uses it. @defaultValue the comparison of a list without options */
  comparisonOf?: ComparisonOf | undefined;
  /** How long dead letters are kept. @defaultValue until they are retried or dropped */
  deadLetters?: DeadLetterRetention;
  /** @defaultValue nothing is traced */
  tracing?: Tracing;
  queueTelemetry?: SubscriptionWorkerOptions['queueTelemetry'];
  /**
   * When stopping: how long handlers may continue before their signal aborts; ms. After the same time again, stopping no
   * longer waits for them. @defaultValue 4000
   */
  stopGraceMs?: number;
}

export interface HandlerPool {
  start(): Promise<void>;
  /**
   * Replaces the set of subscriptions. One that is the same object as before is not restarted. Resolves when the handlers of
   * removed ones have finished and the workers of new ones have started.
   */
  apply(subscriptions: readonly Subscription[]): Promise<void>;
  /**
   * Takes no more events, lets handlers finish, then interrupts them (an interrupted attempt does not count).
   * @throws ChangefeedError `CF_STOP_TIMEOUT` naming the subscriptions whose handlers did not end
   */
  stop(): Promise<void>;
}

export function createHandlerPool(options: HandlerPoolOptions): HandlerPool {
  let current = options.subscriptions;
  let workers: Workers | undefined;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    workers = createWorkers(options);
    await workers.apply(current);
  };
  const stop = async (): Promise<void> => {
    await starting?.catch(() => undefined);
    await workers?.close();
  };
  return {
    start: () => (starting ??= start()),
    stop: () => (stopping ??= stop()),
    async apply(subscriptions) {
      current = subscriptions;
      await starting;
      await workers?.apply(subscriptions);
    },
  };
}

interface Workers {
  apply: HandlerPool['apply'];
  close(): Promise<void>;
}

function createWorkers(options: HandlerPoolOptions): Workers {
  const { connect, timing, clock = systemClock, random = Math.random, deadLetters = {}, ...rest } = options;
  const { unfinished = createUnfinished(), tracing = untraced } = options;
  // Each worker makes connections of its own with the options of this one, because it blocks them.
  const redis = connect();
  const suspects = { isOneRunning: false };
  const common = { ...rest, unfinished, redis, clock, tracing, random, retention: deadLetters, suspects };
  let closing = false;
  const workers = keepParts((subscription): SubscriptionWorker & SubscriptionPart => {
    const worker = createSubscriptionWorker({ ...common, subscription, timing: { ...DEFAULT_TIMING, ...timing } });
    return {
      ...worker,
      async stop() {
        await worker.close();
        if (!closing) await closeHandler(subscription, options.logger);
      },
    };
  });
  return {
    apply: (subscriptions) => workers.apply(subscriptions),
    async close() {
      closing = true;
      await closeAll(workers.end(), { ...options, disconnect: () => redis.disconnect() });
    },
  };
}

async function closeHandler({ name, close }: Subscription, logger: Log): Promise<void> {
  await close?.().catch((error: unknown) => {
    logger.warn({ subscription: name, error: messageOf(error) }, 'handler failed to close');
  });
}

async function closeAll(
  workers: readonly SubscriptionWorker[],
  options: HandlerPoolOptions & { disconnect: () => void },
): Promise<void> {
  const { clock = systemClock, stopGraceMs = 4_000 } = options;
  const open = new Set(workers);
  const closing = Promise.all(
    workers.map(async (worker) => {
      await worker.close();
      open.delete(worker);
    }),
  );
  if ((await withinTime(closing, stopGraceMs, { clock })) === 'late') {
    const subscriptions = [...open].map(({ subscription }) => subscription.name);
    options.logger.warn({ subscriptions }, 'handlers still run: their signals abort now');
    for (const worker of open) worker.interrupt();
    await withinTime(closing, stopGraceMs, { clock });
  }
  const late = [...open].map(({ subscription }) => subscription.name);
  // A handler that does not end keeps its connection open; the process must not wait for it. Nor for BullMQ, which waits for a
  // connection that is not there while Redis is away.
  const abandoning = Promise.all([...open].map((worker) => worker.abandon().catch(() => undefined)));
  await withinTime(abandoning, stopGraceMs, { clock });
  for (const { subscription } of workers) await closeHandler(subscription, options.logger);
  options.disconnect();
  if (late.length > 0) throw didNotEnd(late, 2 * stopGraceMs);
}

function didNotEnd(late: readonly string[], waitedMs: number): ChangefeedError {
  return new ChangefeedError('CF_STOP_TIMEOUT', {
    subscriptions: late,
    message: `The handlers of ${late.map((name) => `"${name}"`).join(', ')} did not end within ${formatDuration(waitedMs)}, although their signal was aborted.`,
  });
}
