/** The BullMQ worker of one subscription: runs its deliveries and interrupts a run whose job was lost to another process. */
import { Worker, type Job, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { describe, messageOf } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import { pauseWhileUnwritable, type RedisUse } from '../redis/watch.js';
import type { Unfinished } from '../runtime/unfinished.js';
import { Episode } from '../runtime/episode.js';
import { gather } from '../runtime/gather.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import { Interrupt } from './attempt.js';
import { createBatcher } from './batcher.js';
import { AttemptFailedError } from './failure.js';
import { keepDisabled } from './circuit-breaker.js';
import type { JobData } from './ports.js';
import { addJobs, keptJobs, queueOptions, type HeadJob, type DeadLetterRetention, type QueueKeys } from './queues.js';
import { HANDLER_FAILED, runDelivery, type DeliveryParts, type RunContext } from './run-delivery.js';

export interface WorkerTiming {
  /** A process that does not renew its locks for this time counts as lost, and its events go to others; ms. @defaultValue 10000 */
  lockMs: number;
  /** How often lost processes are searched for, ms. @defaultValue 3000 */
  stalledCheckMs: number;
  /**
   * After this many processes were lost while they handled one event, the event counts as the cause and becomes a dead letter.
   *
   * All events in flight in a lost process are suspects, and all but one are innocent. So in each process the suspects of all subscriptions run
   * one at a time, while other events go on, and only what is lost while an event runs alone counts from then on. An innocent event is
   * blamed only where processes are killed for another reason each time that it happens to run alone.
   * @defaultValue 3
   */
  mostCrashes: number;
}

/**
 * After a crash, the events that were in flight wait for the sum of both. A shorter lock would be lost where a handler blocks the event loop for a
 * few seconds, and its event handled twice.
 */
export const DEFAULT_TIMING: WorkerTiming = { lockMs: 10_000, stalledCheckMs: 3_000, mostCrashes: 3 };
/** Locks are renewed this often while they last, so that a process may be blocked for three quarters of the time. */
const RENEWALS_PER_LOCK = 4;

/** After a lost connection: the longest wait for the next connection attempt, and for the worker to close. */
const LOST_CONNECTION_WAIT_MS = 1_000;

/** `run-delivery` limits the stalls: BullMQ's own limit would fail the job without it leaving its ordering group. */
const UNLIMITED_STALLS = 1_000_000_000;

export interface SubscriptionWorkerOptions extends DeliveryParts {
  redis: Redis;
  keys: QueueKeys;
  timing: WorkerTiming;
  watch?: RedisUse | undefined;
  loops?: LoopBoard | undefined;
  unfinished: Unfinished;
  retention: DeadLetterRetention;
  /** BullMQ's own telemetry. @defaultValue none */
  queueTelemetry?: WorkerOptions['telemetry'];
}

export interface SubscriptionWorker {
  readonly subscription: Subscription;
  start(): Promise<void>;
  /** Takes no more jobs. Resolves when the running ones have ended. */
  close(): Promise<void>;
  /** Aborts the signals of the running handlers. Their attempts do not count. */
  interrupt(): void;
  /** Closes the connections. Other processes take over the running jobs. */
  abandon(): Promise<void>;
}

export function createSubscriptionWorker(options: SubscriptionWorkerOptions): SubscriptionWorker {
  const { subscription, logger, timing, unfinished } = options;
  const running = new Map<string, Interrupt>();
  const closing = new AbortController();
  let working: Promise<void> | undefined;
  let stopping = false;

  const run = async (job: Job<JobData>, token = ''): Promise<void> => {
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
  const worker = new Worker<JobData>(subscription.name, run, workerOptions(options));
  const onReturned = onFirstCall((value: unknown) => {
    const message = 'a handler returned a value, which is ignored: return nothing on success, throw on failure';
    logger.warn({ subscription: subscription.name, returned: describe(value) }, message);
  });
  const { batch } = subscription;
  const batcher = batch === undefined ? undefined : createBatcher({ ...options, batch, onReturned });
  const context: RunContext = {
    ...options,
    queue: worker,
    addJob: jobAdder(worker),
    lockMs: timing.lockMs,
    mostCrashes: timing.mostCrashes,
    onReturned,
    failing: handlerEpisode(options),
    ...(batcher && { batcher }),
  };
  worker.on('lockRenewalFailed', (ids) => ids.forEach((id) => running.get(id)?.abort('lost')));
  logErrors(worker, options);
  pauseWhileUnwritable(worker, options.watch);
  return {
    subscription,
    async start() {
      await worker.waitUntilReady();
      await keepDisabled(context);
      working = keepRunning(worker, closing.signal, options);
    },
    async close() {
      batcher?.flush();
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

/** Jobs that are added in the same turn of the event loop are one pipeline. */
function jobAdder(worker: Worker<JobData>): RunContext['addJob'] {
  return gather(async (heads: readonly HeadJob[]) => {
    await addJobs(worker, heads);
    return [];
  });
}

/** The worker takes jobs until it is closed. If it ends by itself, it is started again, and the log says so. */
function keepRunning(worker: Worker, signal: AbortSignal, options: SubscriptionWorkerOptions): Promise<void> {
  const { subscription, logger, clock, loops } = options;
  const run = async (): Promise<number> => {
    if (!worker.isRunning()) await worker.run();
    return CHECK_INTERVAL_MS;
  };
  // One turn lasts as long as the worker runs.
  const shared = { signal, log: logger, clock, ...(loops && { loops }) };
  return runLoop({ name: `handle ${subscription.name}`, run, stallMs: null, ...shared });
}

/** After a pause, BullMQ resumes the worker itself. Then each turn only checks that it runs. */
const CHECK_INTERVAL_MS = 1_000;

function logErrors(worker: Worker, { subscription: { name: subscription }, logger }: SubscriptionWorkerOptions): void {
  worker.on('stalled', (deliveryId) => {
    logger.warn({ subscription, deliveryId }, 'process lost while handling an event, the event will be handled again');
  });
  worker.on('error', (error) => {
    logger.warn({ subscription, error: messageOf(error) }, 'worker error, the worker continues');
  });
}

function workerOptions({
  subscription,
  redis,
  keys,
  timing,
  retention,
  queueTelemetry,
}: SubscriptionWorkerOptions): WorkerOptions {
  const { connection, prefix } = queueOptions(subscription.name, { keys, redis });
  return {
    connection,
    ...(prefix === undefined ? {} : { prefix }),
    // A held dead letter blocks its record, so it must not expire.
    ...keptJobs(subscription.whenDead === 'hold' ? {} : retention),
    autorun: false,
    ...(queueTelemetry && { telemetry: queueTelemetry }),
    concurrency: jobsAtOnce(subscription),
    ...limiterOf(subscription),
    lockDuration: timing.lockMs,
    lockRenewTime: timing.lockMs / RENEWALS_PER_LOCK,
    stalledInterval: timing.stalledCheckMs,
    maxStalledCount: UNLIMITED_STALLS,
    runRetryDelay: LOST_CONNECTION_WAIT_MS,
    settings: {
      backoffStrategy: (_attempts, _type, error) =>
        error instanceof AttemptFailedError ? error.waitMs : DEFAULT_RETRY_MS,
    },
  };
}

/** With a batch handler, each event waits in a job of its own: those of the running batches, and of the one being collected. */
function jobsAtOnce({ concurrency, batch }: Subscription): number {
  return batch === undefined ? concurrency : batch.size * (concurrency + 1);
}

/** With a shorter window, the waiting costs more time than the sending. */
const LEAST_WINDOW_MS = 50;

/** BullMQ counts in Redis, for all workers of the queue together. The windows are short, so that calls are spread evenly. */
function limiterOf({ rate }: Subscription): Pick<WorkerOptions, 'limiter'> {
  if (rate === undefined) return {};
  const intervalMs = (rate.perSeconds * 1_000) / rate.requests;
  const max = Math.max(1, Math.round(LEAST_WINDOW_MS / intervalMs));
  return { limiter: { max, duration: Math.ceil(max * intervalMs) } };
}

/** The wait after a failure outside the handler, such as a lost connection to Redis. Short, because the event is not the cause. */
const DEFAULT_RETRY_MS = 1_000;

function onFirstCall<T>(act: (value: T) => void): (value: T) => void {
  let done = false;
  return (value) => {
    if (done) return;
    done = true;
    act(value);
  };
}

/** While an endpoint is away every attempt fails: only the first failure is logged, and the end. */
function handlerEpisode({ subscription, logger: log, clock }: SubscriptionWorkerOptions): Episode {
  const facts = { subscription: subscription.name };
  return new Episode({ begins: HANDLER_FAILED, ends: 'handler succeeds again', level: 'warn', facts, log, clock });
}
