/** A dispatcher and handlers that run in the process of the test and are stopped after it. */
import { expect, onTestFinished } from 'vitest';
import { DeadLetters, type DeadLetter } from '../../src/delivery/act/dead-letters.js';
import { createDispatcher, type Dispatcher, type DispatcherOptions } from '../../src/delivery/dispatcher.js';
import { createHandlerPool, type HandlerPoolOptions } from '../../src/delivery/run/handler-pool.js';
import { openQueues, type Queues } from '../../src/delivery/queues.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import type { Redis } from '../../src/redis/client.js';
import { fanOutDeps } from './fan-out.js';
import { appendEvents, changesOf } from './events.js';
import { eventually } from './eventually.js';
import type { TestRedis } from './redis.js';

export interface RunningFanOut {
  dispatcher: Dispatcher;
  pool: ReturnType<typeof createHandlerPool>;
  queues: Queues;
  dead: DeadLetters;
  append: (...sequences: number[]) => Promise<string[]>;
  settled: (timeoutMs?: number) => Promise<unknown>;
}

export type FanOutExtras = Partial<DispatcherOptions & HandlerPoolOptions>;

export async function runFanOut(
  test: Pick<TestRedis, 'keys'> & { redis: Redis; connect: (options?: { maxRetriesPerRequest: null }) => Redis },
  subscriptions: readonly Subscription[],
  extras: FanOutExtras = {},
): Promise<RunningFanOut> {
  const { timing = {}, ...others } = extras;
  const deps = { ...fanOutDeps(test), timing, ...others, subscriptions };
  const dispatcher = createDispatcher(deps);
  const pool = createHandlerPool(deps);
  const queues = openQueues({ ...deps, logger: deps.logger });
  onTestFinished(async () => {
    await pool.stop().catch(() => undefined);
    await dispatcher.close();
    await queues.close();
    await deps.log.close();
  });
  await Promise.all([dispatcher.start(), pool.start()]);
  return {
    dispatcher,
    pool,
    queues,
    dead: new DeadLetters(queues, deps),
    append: (...sequences) => appendEvents(test, changesOf('r1', ...sequences)),
    settled: (timeoutMs = 10_000) => dispatcher.waitUntilHandled({ timeoutMs }),
  };
}

/** Waits for dead letters: an event leaves its group before it becomes one. */
export async function eventuallyDead(dead: DeadLetters, count: number): Promise<DeadLetter[]> {
  return await eventually(async () => {
    const letters = await dead.list();
    expect(letters).toHaveLength(count);
    return letters;
  });
}
