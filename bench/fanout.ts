/**
 * What keeping the order costs: the same events, from the log through the queue to a handler that does nothing,
 *   plain    BullMQ's addBulk and a worker, nothing of ours
 *   none     our dispatcher and handlers, order: 'none'
 *   ordered  the same, order: 'record', without receipts
 *   receipts the same, with receipts: the default of a subscription
 * at equal concurrency, in interleaved rounds; medians, as JSON: events per second, and per event the processor time of this process and of
 * Redis. On a busy machine, only the processor time can be compared. `--only way,way` runs some of them. Instead of these,
 *   --subscriptions   nine subscriptions, then ten
 *   --forgets         `ordered` without and with what begins an epoch on another Redis server
 *
 * Usage: REDIS_URL=redis://… npm run bench -- fanout [events] [rounds] [records]
 */
import { randomBytes } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createDispatcher } from '../src/delivery/dispatcher.js';
import { createHandlerPool } from '../src/delivery/run/handler-pool.js';
import type { ChangeEvent } from '../src/events/types.js';
import type { Subscription } from '../src/delivery/handlers/handler.js';
import { systemClock } from '../src/kit/clock.js';
import { silentLog } from '../src/kit/log.js';
import { createLogReader } from '../src/log/event-log.js';
import { Keys } from '../src/redis/keys.js';
import { createStateGuard } from '../src/log/state-guard.js';
import { aSubscription, fanOutDeps } from '../test/support/fan-out.js';
import { appendEvents, changeEvent } from '../test/support/events.js';

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const [count = 5_000, rounds = 5, records = 2_500] = process.argv
  .slice(2)
  .filter((arg) => /^\d+$/.test(arg))
  .map(Number);
const CONCURRENCY = 50;
const BULK = 500;

const events = Array.from({ length: count }, (_, n) =>
  changeEvent({ record: `r${n % records}`, sequence: Math.floor(n / records) + 1, weight: 1_500 }),
);

interface Took {
  tookMs: number;
  processMs: number;
  redisMs: number;
}
type Way = (parts: { redis: Redis; keys: Keys; connect: () => Redis }) => Promise<Took>;

async function stopwatch(redis: Redis): Promise<() => Promise<Took>> {
  const [redisMs, started, cpu] = [await redisCpuMs(redis), performance.now(), process.cpuUsage()];
  return async () => {
    const tookMs = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    return { tookMs, processMs: (user + system) / 1_000, redisMs: (await redisCpuMs(redis)) - redisMs };
  };
}

interface Cost {
  eventsPerSecond: number;
  /** Microseconds of processor time per event. */
  processUs: number;
  redisUs: number;
}

async function redisCpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, value]) => Number(value));
  return seconds.reduce((sum, value) => sum + value * 1_000, 0);
}

/** What one way costs, on keys of its own. */
async function measure(way: Way): Promise<Cost> {
  const connections: Redis[] = [];
  const connect = (): Redis => {
    const redis = new Redis(url, { maxRetriesPerRequest: null });
    connections.push(redis);
    return redis;
  };
  const redis = connect();
  const keys = new Keys(`bench-${randomBytes(6).toString('hex')}`);
  try {
    const { tookMs, processMs, redisMs } = await way({ redis, keys, connect });
    return {
      eventsPerSecond: (count / tookMs) * 1_000,
      processUs: (processMs / count) * 1_000,
      redisUs: (redisMs / count) * 1_000,
    };
  } finally {
    for await (const found of redis.scanStream({ match: `${keys.prefix}:*`, count: 1_000 })) {
      if ((found as string[]).length > 0) await redis.unlink(...(found as string[]));
    }
    for (const connection of connections) connection.disconnect();
  }
}

/** Resolves when `total` calls were counted. */
function counter(total: number): { count: () => void; done: Promise<void> } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  let seen = 0;
  const tick = (): void => {
    seen += 1;
    if (seen === total) resolve();
  };
  return { count: tick, done: promise };
}

const plain: Way = async ({ redis, keys, connect }) => {
  const { count: tick, done } = counter(count);
  const connection = connect();
  const prefix = keys.subscriptionQueuePrefix('plain');
  const queue = new Queue<ChangeEvent>('plain', { connection, prefix });
  const worker = new Worker<ChangeEvent>(
    'plain',
    () => {
      tick();
      return Promise.resolve();
    },
    {
      connection,
      prefix,
      concurrency: CONCURRENCY,
      removeOnComplete: { count: 1_000 },
    },
  );
  await worker.waitUntilReady();
  const stop = await stopwatch(redis);
  for (let from = 0; from < count; from += BULK) {
    const batch = events.slice(from, from + BULK);
    await queue.addBulk(batch.map((event) => ({ name: event.type, data: event, opts: { jobId: event.id } })));
  }
  await done;
  const took = await stop();
  await worker.close();
  await queue.close();
  return took;
};

/** The subscription that is measured; it calls `tick` for each event. */
type Make = (name: string, tick: () => void) => Subscription;

const single =
  (order: 'record' | 'none', changes: Partial<Subscription> = {}): Make =>
  (name, tick) =>
    aSubscription(name, tick, { order, concurrency: CONCURRENCY, ...changes });

function guardDeps(parts: { redis: Redis; keys: Keys }): Parameters<typeof createStateGuard>[0] {
  return { ...parts, clock: systemClock, log: silentLog };
}

function ours(make: Make, { subscriptions = 1, guarded = false } = {}): Way {
  return async (parts) => {
    const { count: tick, done } = counter(count * subscriptions);
    const names = Array.from({ length: subscriptions }, (_, n) => `s-${n}`);
    const deps = {
      ...fanOutDeps(parts),
      ...(guarded && { log: createLogReader({ ...parts, guard: createStateGuard(guardDeps(parts)) }) }),
      highWater: 5_000,
      subscriptions: names.map((name) => make(name, tick)),
    };
    await appendEvents(parts, events);
    const pool = createHandlerPool(deps);
    const dispatcher = createDispatcher(deps);
    await pool.start();
    const stop = await stopwatch(parts.redis);
    await dispatcher.start();
    await done;
    const took = await stop();
    await pool.stop();
    await dispatcher.close();
    await deps.log.close();
    return took;
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}

function waysAsked(): Record<string, Way> {
  const ordered = ours(single('record'));
  if (process.argv.includes('--subscriptions')) {
    return { nine: ours(single('record'), { subscriptions: 9 }), ten: ours(single('record'), { subscriptions: 10 }) };
  }
  if (process.argv.includes('--forgets')) return { ordered, guarded: ours(single('record'), { guarded: true }) };
  const kept = { ageMs: 7 * 86_400_000, number: 100_000 };
  return { plain, none: ours(single('none')), ordered, receipts: ours(single('record', { receipts: kept })) };
}

const only = process.argv[process.argv.indexOf('--only') + 1]?.split(',');
const ways = Object.entries(waysAsked()).filter(([name]) => !process.argv.includes('--only') || only?.includes(name));
const costs = new Map(ways.map(([name]) => [name, [] as Cost[]]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, way] of ways) costs.get(name)?.push(await measure(way));
}
const medianOf = (name: string, of: keyof Cost): number => median((costs.get(name) ?? []).map((cost) => cost[of]));
const [base = ''] = costs.keys();
const results = Object.fromEntries(
  [...costs.keys()].map((name) => {
    const [rate, processUs, redisUs] = (['eventsPerSecond', 'processUs', 'redisUs'] as const).map((of) =>
      medianOf(name, of),
    );
    const share = (rate ?? 0) / medianOf(base, 'eventsPerSecond');
    const processorShare = medianOf(base, 'processUs') / (processUs ?? 0);
    return [
      name,
      { eventsPerSecond: rate, share: share.toFixed(2), processUs, processorShare: processorShare.toFixed(2), redisUs },
    ];
  }),
);
const bytes = Buffer.byteLength(JSON.stringify(events[0]));
console.log(JSON.stringify({ events: count, bytes, records, rounds, concurrency: CONCURRENCY, results }, null, 2));
