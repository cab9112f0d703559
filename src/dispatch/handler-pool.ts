/** All handlers of one process: a worker per subscription, started together, stopped with care. */
import { ChangefeedError, messageOf } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { formatDuration } from '../runtime/duration.js';
import type { Log } from '../runtime/log.js';
import type { ComparisonOf } from './merge-changes.js';
import type { RedisUse } from '../runtime/redis-watch.js';
import { createUnfinished, type Unfinished } from '../runtime/unfinished.js';
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
  /** No event is taken while Redis takes no writes. @defaultValue as if it always did */
  watch?: RedisUse | undefined;
  /** Is told of each event that is being handled. */
  unfinished?: Unfinished | undefined;
  /** In [0, 1); spreads retries. */
  random?: () => number;
  timing?: Partial<WorkerTiming>;
  /** How detection compares the records of a list: what `settle` merges by. @defaultValue as without options of the list */
  comparisonOf?: ComparisonOf | undefined;
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
   * From here on these are the subscriptions; one that is the same object as before goes on undisturbed. Resolves when
   * the handlers of those that go have finished and those that come are at work.
   */
  apply(subscriptions: readonly Subscription[]): Promise<void>;
  /**
   * Takes no more events, lets handlers finish, then interrupts them (an interrupted try does not count).
   * @throws ChangefeedError `CF_STOP_TIMEOUT` naming the subscriptions whose handlers did not end
   */
  stop(): Promise<void>;
}

export function createHandlerPool(options: HandlerPoolOptions): HandlerPool {
  let current = options.subscriptions;
  let crew: Crew | undefined;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    crew = gatherCrew(options);
    await crew.apply(current);
  };
  const stop = async (): Promise<void> => {
    await starting?.catch(() => undefined);
    await crew?.close();
  };
  return {
    start: () => (starting ??= start()),
    stop: () => (stopping ??= stop()),
    async apply(subscriptions) {
      current = subscriptions;
      await starting;
      await crew?.apply(subscriptions);
    },
  };
}

interface Crew {
  apply(subscriptions: readonly Subscription[]): Promise<void>;
  close(): Promise<void>;
}

function gatherCrew(options: HandlerPoolOptions): Crew {
  const { connect, timing, clock = systemClock, random = Math.random, deadLetters = {}, ...rest } = options;
  const { unfinished = createUnfinished() } = options;
  // Workers make their own connections after the pattern of this one, for each blocks in turn.
  const redis = connect();
  const parts = {
    ...rest,
    unfinished,
    redis,
    clock,
    random,
    retention: deadLetters,
    timing: { ...DEFAULT_TIMING, ...timing },
  };
  const working = new Map<string, SubscriptionWorker>();
  const leaving = new Set<SubscriptionWorker>();
  let closing = false;

  const hire = async (subscription: Subscription): Promise<void> => {
    const worker = createSubscriptionWorker({ ...parts, subscription });
    working.set(subscription.name, worker);
    await worker.start();
  };
  /** Its handlers finish, however long they may take: nobody else waits for them. */
  const retire = async (worker: SubscriptionWorker): Promise<void> => {
    working.delete(worker.subscription.name);
    leaving.add(worker);
    await worker.close();
    if (isClosing()) return;
    leaving.delete(worker);
    await letGo(worker.subscription, options);
  };
  // Asked through a function: the compiler believes that what was false stays so.
  const isClosing = (): boolean => closing;
  const change = async (name: string, next: Subscription | undefined): Promise<void> => {
    const worker = working.get(name);
    if (worker !== undefined && worker.subscription !== next) await retire(worker);
    if (next !== undefined && !working.has(name) && !isClosing()) await hire(next);
  };
  let changing: Promise<unknown> = Promise.resolve();
  return {
    async apply(subscriptions) {
      changing = changing
        .catch(() => undefined)
        .then(async () => {
          const wanted = new Map(subscriptions.map((one) => [one.name, one]));
          const names = new Set([...wanted.keys(), ...working.keys()]);
          await Promise.all([...names].map((name) => change(name, wanted.get(name))));
        });
      await changing;
    },
    async close() {
      closing = true;
      await close([...working.values(), ...leaving], { ...options, disconnect: () => redis.disconnect() });
    },
  };
}

async function letGo({ name, close }: Subscription, { logger }: Pick<HandlerPoolOptions, 'logger'>): Promise<void> {
  await close?.().catch((error: unknown) => {
    logger.warn({ subscription: name, error: messageOf(error) }, 'a handler did not close cleanly');
  });
}

async function close(
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
  if (!(await endsWithin(closing, stopGraceMs, clock))) {
    for (const worker of open) worker.interrupt();
    await endsWithin(closing, stopGraceMs, clock);
  }
  const late = [...open].map(({ subscription }) => subscription.name);
  // A handler that does not end keeps its connection from closing; the process must not wait for it.
  await Promise.all([...open].map((worker) => worker.abandon().catch(() => undefined)));
  for (const { subscription } of workers) await letGo(subscription, options);
  options.disconnect();
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
