/** The BullMQ worker of one subscription: takes its deliveries, one run each, and knows when one was lost to another. */
import { Worker, type Job, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { describe, messageOf } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import { pauseWhileUnwritable, type RedisUse } from '../runtime/redis-watch.js';
import type { Unfinished } from '../runtime/unfinished.js';
import { runLoop } from '../runtime/loop.js';
import { createBatcher } from './batcher.js';
import { AttemptFailedError } from './failure.js';
import { Interrupt } from './interrupt.js';
import { keepDisabled } from './circuit-breaker.js';
import type { Delivery } from './ports.js';
import { keptJobs, queueOptions, type DeadLetterRetention, type QueueKeys } from './queue-layout.js';
import { runDelivery, type RunContext } from './run-delivery.js';

export interface WorkerTiming {
  /** A process that gives no sign of life for so long is taken for lost, and its events go to others; ms. @defaultValue 30000 */
  lockMs: number;
  /** How often lost processes are looked for, ms. @defaultValue 15000 */
  stalledCheckMs: number;
}

export const DEFAULT_TIMING: WorkerTiming = { lockMs: 30_000, stalledCheckMs: 15_000 };

/** After a lost connection: a worker waits no longer for the next try, nor for its end. */
const LOST_CONNECTION_WAIT_MS = 1_000;

/** Ours to judge (see `run-delivery`): BullMQ's own limit would fail the job without its lane moving on. */
const NEVER_TOO_STALLED = 1_000_000_000;

export interface SubscriptionWorkerOptions extends Pick<
  RunContext,
  'subscription' | 'gate' | 'logger' | 'clock' | 'random' | 'once' | 'health' | 'comparisonOf'
> {
  redis: Redis;
  keys: QueueKeys;
  timing: WorkerTiming;
  watch?: RedisUse | undefined;
  unfinished: Unfinished;
  retention: DeadLetterRetention;
}

export interface SubscriptionWorker {
  readonly subscription: Subscription;
  start(): Promise<void>;
  /** Takes no more; resolves when what is running has ended. */
  close(): Promise<void>;
  /** Aborts the signals of what is running; those tries do not count. */
  interrupt(): void;
  /** Cuts the connections; what was running comes back elsewhere. */
  abandon(): Promise<void>;
}

export function createSubscriptionWorker(options: SubscriptionWorkerOptions): SubscriptionWorker {
  const { subscription, logger, timing, unfinished } = options;
  const running = new Map<string, Interrupt>();
  const closing = new AbortController();
  let working: Promise<void> | undefined;
  let stopping = false;
  const facts = { subscription: subscription.name };

  const run = async (job: Job<Delivery>, token = ''): Promise<void> => {
    const interrupt = new Interrupt();
    if (stopping) interrupt.abort('stopping');
    const id = job.id ?? '';
    running.set(id, interrupt);
    try {
      await unfinished.during(`handling of "${subscription.name}"`, () =>
        runDelivery({ job, token, interrupt }, context),
      );
    } finally {
      if (running.get(id) === interrupt) running.delete(id);
    }
  };
  const worker = new Worker<Delivery>(subscription.name, run, workerOptions(options));
  const onReturned = once((value: unknown) => {
    const message = 'a handler returned a value, which is ignored: resolve with nothing, throw to fail';
    logger.warn({ ...facts, returned: describe(value) }, message);
  });
  const { batch } = subscription;
  const batcher = batch === undefined ? undefined : createBatcher({ ...options, batch, onReturned });
  const context: RunContext = {
    ...options,
    store: worker,
    lockMs: timing.lockMs,
    onReturned,
    ...(batcher && { batcher }),
  };
  worker.on('lockRenewalFailed', (ids) => {
    for (const id of ids) running.get(id)?.abort('lost');
  });
  logTrouble(worker, options);
  pauseWhileUnwritable(worker, options.watch);
  return {
    subscription,
    async start() {
      await worker.waitUntilReady();
      await keepDisabled(context);
      working = keepRunning(worker, closing.signal, options);
    },
    async close() {
      batcher?.hurry();
      closing.abort();
      await worker.close();
      await working;
    },
    interrupt() {
      stopping = true;
      for (const one of running.values()) one.abort('stopping');
      batcher?.interrupt();
    },
    abandon: () => worker.disconnect(),
  };
}

/** The worker takes jobs until it is closed: should it ever end by itself, it is started again, and the log says so. */
function keepRunning(worker: Worker, signal: AbortSignal, options: SubscriptionWorkerOptions): Promise<void> {
  const { subscription, logger, clock } = options;
  const run = async (): Promise<number> => {
    if (!worker.isRunning()) await worker.run();
    return LOOK_AGAIN_MS;
  };
  // Its turn lasts as long as the worker.
  return runLoop({ name: `handle ${subscription.name}`, run, signal, stallMs: null, log: logger, clock });
}

/** A worker that is paused and resumed runs by itself again: then there is nothing to do but look. */
const LOOK_AGAIN_MS = 1_000;

function logTrouble(worker: Worker, { subscription: { name: subscription }, logger }: SubscriptionWorkerOptions): void {
  worker.on('stalled', (event) => {
    logger.warn({ subscription, event }, 'a process was lost while handling an event; it will be handled again');
  });
  worker.on('error', (error) => {
    logger.warn({ subscription, error: messageOf(error) }, 'a worker had trouble; it goes on');
  });
}

function workerOptions({ subscription, redis, keys, timing, retention }: SubscriptionWorkerOptions): WorkerOptions {
  const { connection, prefix } = queueOptions(subscription.name, { keys, redis });
  return {
    connection,
    ...(prefix === undefined ? {} : { prefix }),
    // One that others wait for must not vanish by its age.
    ...keptJobs(subscription.whenDead === 'hold' ? {} : retention),
    autorun: false,
    concurrency: jobsAtOnce(subscription),
    ...limiterOf(subscription),
    lockDuration: timing.lockMs,
    stalledInterval: timing.stalledCheckMs,
    maxStalledCount: NEVER_TOO_STALLED,
    runRetryDelay: LOST_CONNECTION_WAIT_MS,
    settings: {
      backoffStrategy: (_attempts, _type, error) => (error instanceof AttemptFailedError ? error.waitMs : RETRY_UNTOLD_MS),
    },
  };
}

/** Of a batch handler every event waits in a job of its own: those of the batches under way, and of the one that is collected. */
function jobsAtOnce({ concurrency, batch }: Subscription): number {
  return batch === undefined ? concurrency : batch.size * (concurrency + 1);
}

/** Finer than this, a limit costs more waiting than sending. */
const LEAST_WINDOW_MS = 50;

/** BullMQ counts in Redis, for all workers of the queue together. Short windows, so that a rate is spread and no burst. */
function limiterOf({ rate }: Subscription): Pick<WorkerOptions, 'limiter'> {
  if (rate === undefined) return {};
  const intervalMs = (rate.perSeconds * 1_000) / rate.requests;
  const max = Math.max(1, Math.round(LEAST_WINDOW_MS / intervalMs));
  return { limiter: { max, duration: Math.ceil(max * intervalMs) } };
}

/** For what failed outside the handler (Redis was away in mid-run): soon, for nothing is wrong with the event. */
const RETRY_UNTOLD_MS = 1_000;

function once<T>(act: (value: T) => void): (value: T) => void {
  let done = false;
  return (value) => {
    if (done) return;
    done = true;
    act(value);
  };
}
