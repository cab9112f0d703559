/** All handlers of one process: a worker per subscription, started together, stopped with care. */
import { ChangefeedError, messageOf } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { Connect, HealthStore, OnceStore, RecordGate } from './ports.js';
import type { DeadLetterRetention, QueueKeys } from './queue-layout.js';
import { DEFAULT_TIMING, createSubscriptionWorker, type SubscriptionWorker, type WorkerTiming } from './worker.js';

export interface HandlerPoolOptions {
  connect: Connect;
  keys: QueueKeys;
  gate: RecordGate;
  once: OnceStore;
  health: HealthStore;
  subscriptions: readonly Subscription[];
  logger: Log;
  clock?: Clock;
  /** In [0, 1); spreads retries. */
  random?: () => number;
  timing?: Partial<WorkerTiming>;
  /** How long dead letters are kept. @defaultValue until they are retried or dropped */
  deadLetters?: DeadLetterRetention;
  /**
   * When stopping: how long handlers may go on before their signal aborts; ms. As long again, and they are left behind.
   * @defaultValue 4000
   */
  stopGraceMs?: number;
}

export interface HandlerPool {
  start(): Promise<void>;
  /**
   * Takes no more events, lets handlers finish, then interrupts them (an interrupted try does not count).
   * @throws ChangefeedError `CF_STOP_TIMEOUT` naming the subscriptions whose handlers did not end
   */
  stop(): Promise<void>;
}

export function createHandlerPool(options: HandlerPoolOptions): HandlerPool {
  let running: Running | undefined;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    running = open(options);
    await Promise.all(running.workers.map((worker) => worker.start()));
  };
  const stop = async (): Promise<void> => {
    await starting?.catch(() => undefined);
    if (running !== undefined) await close(running, options);
  };
  return {
    start: () => (starting ??= start()),
    stop: () => (stopping ??= stop()),
  };
}

interface Running {
  workers: readonly SubscriptionWorker[];
  disconnect: () => void;
}

function open({
  connect,
  timing,
  clock = systemClock,
  random = Math.random,
  deadLetters = {},
  ...rest
}: HandlerPoolOptions): Running {
  // Workers make their own connections after the pattern of this one, for each blocks in turn.
  const redis = connect();
  const workers = rest.subscriptions.map((subscription) =>
    createSubscriptionWorker({
      ...rest,
      subscription,
      redis,
      clock,
      random,
      retention: deadLetters,
      timing: { ...DEFAULT_TIMING, ...timing },
    }),
  );
  return { workers, disconnect: () => redis.disconnect() };
}

async function close({ workers, disconnect }: Running, options: HandlerPoolOptions): Promise<void> {
  const { clock = systemClock, stopGraceMs = 4_000, subscriptions, logger } = options;
  const open = new Set(workers);
  const closing = Promise.all(
    workers.map(async (worker) => {
      await worker.close();
      open.delete(worker);
    }),
  );
  if (!(await endsWithin(closing, stopGraceMs, clock))) {
    for (const worker of open) worker.interrupt();
    await endsWithin(closing, stopGraceMs, clock);
  }
  const late = [...open].map(({ subscription }) => subscription.name);
  // A handler that does not end keeps its connection from closing; the process must not wait for it.
  await Promise.all([...open].map((worker) => worker.abandon().catch(() => undefined)));
  for (const { name, close: letGo } of subscriptions) {
    await letGo?.().catch((error: unknown) => {
      logger.warn({ subscription: name, error: messageOf(error) }, 'a handler did not close cleanly');
    });
  }
  disconnect();
  if (late.length > 0) throw didNotEnd(late, 2 * stopGraceMs);
}

/** @throws what `work` throws */
async function endsWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const ended = new AbortController();
  const timer = clock.sleep(ms, ended.signal).then(
    () => false,
    () => true,
  );
  try {
    return await Promise.race([work.then(() => true), timer]);
  } finally {
    ended.abort();
  }
}

function didNotEnd(late: readonly string[], waitedMs: number): ChangefeedError {
  return new ChangefeedError('CF_STOP_TIMEOUT', {
    subscriptions: late,
    message: `The handlers of ${late.map((name) => `"${name}"`).join(', ')} did not end within ${formatDuration(waitedMs)}, although their signal was aborted. Their events will be handled again at the next start.`,
  });
}
