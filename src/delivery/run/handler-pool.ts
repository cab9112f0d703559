/** One BullMQ worker per subscription. It interrupts a run whose job was lost to another process. */
import { Worker, type WorkerOptions } from 'bullmq';
import { ChangefeedError, messageOf } from '../../kit/errors.js';
import { partsOf } from '../handlers/errors.js';
import type { Subscription } from '../handlers/handler.js';
import type { Redis } from '../../redis/client.js';
import { pauseWhileUnwritable, type RedisUse } from '../../redis/watch.js';
import { systemClock, withinTime } from '../../kit/clock.js';
import { formatDuration } from '../../kit/duration.js';
import { Episode } from '../../kit/episode.js';
import type { Log } from '../../kit/log.js';
import { runLoop, type LoopBoard } from '../../kit/loop.js';
import { Tally } from '../../kit/tally.js';
import { keepPaused } from './circuit-breaker.js';
import { AttemptFailedError } from '../failure.js';
import {
  causeOf,
  keptJobs,
  MAY_REST,
  queueOptions,
  type DeadLetterRetention,
  type QueueKeys,
  type Connect,
  type JobData,
} from '../queues.js';
import { HANDLER_FAILED, type HandlingContext } from './run.js';
import { createRuns } from './runs.js';

export interface WorkerTiming {
  /** A process that renews no lock for so long loses its events to others; ms. @defaultValue 10000 */
  lockMs: number;
  /** How often lost locks are searched for, ms. @defaultValue 3000 */
  stalledCheckMs: number;
}

/** After a crash, events in flight wait for the sum. Handlers that block for seconds would lose a shorter lock. */
export const DEFAULT_TIMING: WorkerTiming = { lockMs: 10_000, stalledCheckMs: 3_000 };
/** Locks are renewed this often while they last, so that a process may be blocked for three quarters of the time. */
const RENEWALS_PER_LOCK = 4;

/** After a lost connection: the longest wait for the next connection attempt, and for the worker to close. */
const LOST_CONNECTION_WAIT_MS = 1_000;

/** BullMQ's default is 5 s: now and then it takes the sign of a retry, and waits this long all the same. */
const LOOKS_AGAIN_S = 1;

/** `run-delivery` limits the stalls: BullMQ's own limit would fail the job without it leaving its ordering group. */
const UNLIMITED_STALLS = 1_000_000_000;

export interface HandlerPoolOptions extends HandlingContext {
  connect: Connect;
  keys: QueueKeys;
  subscriptions: readonly Subscription[];
  /** No event is taken while Redis accepts no writes. */
  watch: RedisUse;
  loops: LoopBoard;
  timing?: Partial<WorkerTiming>;
  /** How long dead letters are kept. @defaultValue until they are retried or dropped */
  deadLetters?: DeadLetterRetention | undefined;
  queueTelemetry?: WorkerOptions['telemetry'];
  /** How long handlers may go on before their signal aborts, and again before they are left; ms. @defaultValue 4000 */
  stopGraceMs?: number;
}

export function createHandlerPool(options: HandlerPoolOptions) {
  const { connect } = options;
  const timing = { ...DEFAULT_TIMING, ...options.timing };
  const common = { ...options, ...timing };
  // Each worker makes connections of its own with the options of this one, because it blocks them.
  let redis: Redis | undefined;
  const workers = new Map<string, SubscriptionWorker>();
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const stopped = new AbortController();
  const everyMs = timing.lockMs / RENEWALS_PER_LOCK;
  const renew = async (): Promise<number> => {
    await Promise.all([...workers.values()].map((worker) => worker.renewLocks()));
    return everyMs;
  };
  const create = (subscription: Subscription): SubscriptionWorker => {
    redis ??= connect();
    const worker = createSubscriptionWorker({ ...common, redis, subscription });
    workers.set(subscription.name, worker);
    return worker;
  };
  const start = async (): Promise<void> => {
    // A consumer asks for its events: there is nothing to run.
    const first = options.subscriptions.filter(({ pull }) => pull === undefined).map(create);
    const { logger: log, loops } = options;
    const backoff = { delayMs: everyMs, maxDelayMs: everyMs };
    // In real time, as the locks. It may outlive `stop` by a call that Redis does not answer.
    const shared = { signal: stopped.signal, log, loops, clock: systemClock, backoff, stallMs: null };
    void runLoop({ ...shared, name: 'locks', run: renew });
    await Promise.all(first.map((worker) => worker.start()));
  };
  const stop = async (): Promise<void> => {
    await starting?.catch(() => undefined);
    try {
      await closeAll([...workers.values()], options);
    } finally {
      redis?.disconnect();
      stopped.abort();
    }
  };
  return {
    start: (): Promise<void> => (starting ??= start()),
    /** A rule that is saved while the pool runs; in a process without one, nothing happens. */
    async add(subscription: Subscription): Promise<void> {
      if (starting !== undefined) await create(subscription).start();
    },
    /** As `stop`, of one subscription: the others do not notice. Its locks are renewed until it has ended. */
    async remove(name: string): Promise<void> {
      const worker = workers.get(name);
      if (worker === undefined) return;
      try {
        await closeAll([worker], options);
      } finally {
        workers.delete(name);
      }
    },
    /** Interrupted attempts do not count. @throws ChangefeedError `CF_STOP_TIMEOUT` naming who did not end */
    stop: (): Promise<void> => (stopping ??= stop()),
  };
}

async function closeHandler({ name, close }: Subscription, logger: Log): Promise<void> {
  await close?.().catch((error: unknown) => {
    logger.warn({ subscription: name, error: partsOf(error).known }, 'handler failed to close');
  });
}

async function closeAll(workers: readonly SubscriptionWorker[], options: HandlerPoolOptions): Promise<void> {
  const { clock, stopGraceMs = 4_000 } = options;
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
  // A handler that does not end keeps its connection open; we wait neither for it, nor for BullMQ while Redis is away.
  const abandoning = Promise.all([...open].map((worker) => worker.abandon().catch(() => undefined)));
  await withinTime(abandoning, stopGraceMs, { clock });
  for (const { subscription } of workers) await closeHandler(subscription, options.logger);
  if (late.length === 0) return;
  throw new ChangefeedError('CF_STOP_TIMEOUT', {
    subscriptions: late,
    message: `The handlers of ${late.map((name) => `"${name}"`).join(', ')} did not end within ${formatDuration(2 * stopGraceMs)}, although their signal was aborted.`,
  });
}

interface SubscriptionWorkerOptions extends HandlerPoolOptions, WorkerTiming {
  subscription: Subscription;
  redis: Redis;
}

type SubscriptionWorker = ReturnType<typeof createSubscriptionWorker>;

function createSubscriptionWorker(options: SubscriptionWorkerOptions) {
  const { subscription } = options;
  const closing = new AbortController();
  const { logger, clock } = options;
  const facts = { subscription: subscription.name };
  // While an endpoint is away every attempt fails: only the first failure is logged, and the end. One that answers now and then would fill the log.
  const words = { begins: HANDLER_FAILED, ends: 'handler succeeds again', level: 'warn' } as const;
  const episode = { ...words, relapseMs: 60_000, facts };
  const failing = new Episode({ ...episode, log: logger, clock });
  let working: Promise<void> | undefined;
  const runs = createRuns({ ...options, failing, closing: closing.signal, queue: () => worker });
  const worker: Worker<JobData> = new Worker<JobData>(subscription.name, runs.run, workerOptions(options));
  const errors = new Tally((found) => logger.warn({ ...facts, ...found }, 'worker error, the worker continues'));
  worker.on('stalled', runs.lost);
  worker.on('error', (error) => errors.add({ error: messageOf(error) }, causeOf(error)));
  pauseWhileUnwritable(worker, options.watch);
  return {
    subscription,
    async start(): Promise<void> {
      await worker.waitUntilReady();
      await keepPaused(subscription.name, { health: options.health, queue: worker });
      working = keepRunning(worker, closing.signal, options);
    },
    /** Takes no more jobs. Resolves when the running ones have ended. */
    async close(): Promise<void> {
      closing.abort();
      await worker.close();
      await working;
      runs.close();
      errors.close();
    },
    renewLocks: () => runs.renewLocks((...locks) => worker.extendJobLocks(...locks)),
    interrupt: () => runs.interrupt(),
    /** Closes the connections. Other processes take over the running jobs. */
    async abandon(): Promise<void> {
      await worker.disconnect();
    },
  };
}

/** The worker takes jobs until it is closed. If it ends by itself, it is started again, and the log says so. */
function keepRunning(worker: Worker, signal: AbortSignal, options: SubscriptionWorkerOptions): Promise<void> {
  const { subscription, logger: log, clock, loops } = options;
  const run = async (): Promise<number> => {
    if (!worker.isRunning()) await worker.run();
    return CHECK_INTERVAL_MS;
  };
  const name = `handle ${subscription.name}`;
  // One turn lasts as long as the worker runs.
  return runLoop({ name, run, stallMs: null, signal, log, clock, loops });
}

/** After a pause, BullMQ resumes the worker itself. Then each turn only checks that it runs. */
const CHECK_INTERVAL_MS = 1_000;

function workerOptions(options: SubscriptionWorkerOptions): WorkerOptions {
  const { subscription, lockMs, stalledCheckMs, deadLetters, queueTelemetry } = options;
  return {
    ...queueOptions(subscription.name, options),
    // A held dead letter blocks its record, so it must not expire.
    ...keptJobs(subscription.order !== 'none', subscription.whenDead === 'hold' ? undefined : deadLetters),
    autorun: false,
    ...(queueTelemetry && { telemetry: queueTelemetry }),
    concurrency: subscription.concurrency,
    ...(subscription.destination !== undefined && MAY_REST),
    lockDuration: lockMs,
    skipLockRenewal: true,
    stalledInterval: stalledCheckMs,
    maxStalledCount: UNLIMITED_STALLS,
    drainDelay: LOOKS_AGAIN_S,
    runRetryDelay: LOST_CONNECTION_WAIT_MS,
    settings: {
      backoffStrategy: (_attempts, _type, error) =>
        error instanceof AttemptFailedError ? error.waitMs : DEFAULT_RETRY_MS,
    },
  };
}

/** After a failure outside the handler, such as a lost connection. Short, because the event is not the cause. */
const DEFAULT_RETRY_MS = 1_000;
