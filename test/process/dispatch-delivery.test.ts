import { describe, expect, it, onTestFinished } from 'vitest';
import { DeadLetters } from '../../src/dispatch/dead-letters.js';
import { createDispatcher, type Dispatcher } from '../../src/dispatch/dispatcher.js';
import { createHandlerPool, type HandlerPool } from '../../src/dispatch/handler-pool.js';
import { openQueues, type Queues } from '../../src/dispatch/queues.js';
import { PermanentError, RetryAfterError } from '../../src/handlers/errors.js';
import type { Subscription } from '../../src/handlers/handler.js';
import { silentLog, type Log } from '../../src/runtime/log.js';
import { WORKSPACE, aSubscription, appendEvents, changeEvent, fanOutDeps } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { eventually } from '../support/eventually.js';

const test = useRedis();

interface Running {
  dispatcher: Dispatcher;
  pool: HandlerPool;
  queues: Queues;
  dead: DeadLetters;
  append: (...sequences: number[]) => Promise<string[]>;
  settled: (timeoutMs?: number) => Promise<unknown>;
}

interface Extras {
  logger?: Log;
  highWater?: number;
  stopGraceMs?: number;
}

async function run(subscriptions: readonly Subscription[], extras: Extras = {}): Promise<Running> {
  const connect = () => test.connect({ maxRetriesPerRequest: null });
  const deps = { ...fanOutDeps({ redis: test.redis, keys: test.keys, connect }), ...extras, subscriptions };
  const dispatcher = createDispatcher(deps);
  const pool = createHandlerPool(deps);
  const queues = openQueues({ ...deps, logger: deps.logger });
  onTestFinished(async () => {
    await pool.stop().catch(() => undefined);
    await dispatcher.stop();
    await queues.close();
    await deps.log.close();
  });
  await Promise.all([dispatcher.start(), pool.start()]);
  return {
    dispatcher,
    pool,
    queues,
    dead: new DeadLetters(queues),
    append: (...sequences) =>
      appendEvents(
        test.redis,
        test.keys,
        sequences.map((sequence) => changeEvent({ record: 'r1', sequence })),
      ),
    async settled(timeoutMs = 10_000) {
      return await dispatcher.waitUntilHandled({ upTo: { [WORKSPACE]: await deps.log.tail(WORKSPACE) }, timeoutMs });
    },
  };
}

describe('a delivery', () => {
  it('is tried again after a failure, in its place before the followers, and told which try it is', async () => {
    const seen: string[] = [];
    const { append, settled } = await run([
      aSubscription('s', ({ data }, { attempt }) => {
        seen.push(`${data.sequence}#${attempt}`);
        if (data.sequence === 1 && attempt < 3) throw new Error('not yet');
      }),
    ]);

    await append(1, 2);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen).toEqual(['1#1', '1#2', '1#3', '2#1']);
  });

  it('waits as long as a RetryAfterError says', async () => {
    const at: number[] = [];
    const { append, settled } = await run([
      aSubscription('s', () => {
        at.push(performance.now());
        if (at.length === 1) throw new RetryAfterError('busy', { retryAfter: 300 });
      }),
    ]);

    await append(1);
    await settled();

    expect(at).toHaveLength(2);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(295);
  });

  it('becomes a dead letter at once on a PermanentError, and releases its record', async () => {
    const seen: number[] = [];
    const { append, settled, dead } = await run([
      aSubscription('s', ({ data }) => {
        if (data.sequence === 1) throw new PermanentError('endpoint gone');
        seen.push(data.sequence);
      }),
    ]);

    const [logId] = await append(1, 2, 3);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen).toEqual([2, 3]);
    const event = changeEvent({ record: 'r1', sequence: 1 });
    expect(await eventuallyDead(dead, 1)).toEqual([
      {
        id: event.id,
        subscription: 's',
        workspace: WORKSPACE,
        logId,
        reason: 'endpoint gone',
        diedAt: expect.any(String) as string,
        attempts: [expect.objectContaining({ attempt: 1, error: 'PermanentError', message: 'endpoint gone' })],
        event,
      },
    ]);
  });

  it('dies when its tries are used up, and remembers each of them', async () => {
    const { append, settled, dead } = await run([
      aSubscription('s', (_event, { attempt }) => Promise.reject(new Error(`no. ${attempt}`)), {
        retry: { attempts: 3, delayMs: 1, maxDelayMs: 2 },
      }),
    ]);

    await append(1);
    await settled();

    const [letter] = await eventuallyDead(dead, 1);
    expect(letter?.attempts.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, 'no. 1'],
      [2, 'no. 2'],
      [3, 'no. 3'],
    ]);
  });

  it('is cut off at the timeout although the handler ignores its signal', async () => {
    const signals: AbortSignal[] = [];
    const { append, settled, dead } = await run([
      aSubscription(
        's',
        (_event, { signal }) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
        { timeoutMs: 50, retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 } },
      ),
    ]);

    await append(1);
    await settled();

    const [letter] = await eventuallyDead(dead, 1);
    expect(letter?.attempts[0]?.code).toBe('CF_HANDLER_TIMEOUT');
    expect(letter?.reason).toContain('The handler of "s" did not finish within 50 ms');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('says what was thrown when that is not an error, and shows nothing of it', async () => {
    const { append, settled, dead } = await run([
      aSubscription(
        's',
        () => {
          // eslint-disable-next-line @typescript-eslint/only-throw-error -- what the test is about
          throw 'secret';
        },
        { retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 } },
      ),
    ]);

    await append(1);
    await settled();

    const [letter] = await eventuallyDead(dead, 1);
    expect(letter?.attempts[0]?.code).toBe('CF_HANDLER_FAILED');
    expect(letter?.reason).toContain('a string of 6 characters');
    expect(JSON.stringify(letter)).not.toContain('secret');
  });

  it('ignores what a handler returns, and says so once', async () => {
    const warnings: string[] = [];
    const logger: Log = { ...silentLog, warn: (_facts, message) => warnings.push(message), child: () => logger };
    const { append, settled } = await run([aSubscription('s', () => 'nonsense' as unknown as undefined)], { logger });

    await append(1, 2, 3);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(warnings.filter((message) => message.includes('returned a value'))).toHaveLength(1);
  });

  it('that was interrupted by stopping does not count as tried', async () => {
    const attempts: number[] = [];
    const handle: Subscription['handle'] = (_event, { attempt, signal }) => {
      attempts.push(attempt);
      if (attempts.length > 1) return;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('interrupted'))));
    };
    const first = await run([aSubscription('s', handle)], { stopGraceMs: 100 });
    await first.append(1);
    await eventually(() => expect(attempts).toHaveLength(1));
    await first.pool.stop();

    const second = await run([aSubscription('s', handle)]);

    expect(await second.settled()).toEqual({ outcome: 'handled' });
    expect(attempts).toEqual([1, 1]);
    expect(await second.dead.count()).toBe(0);
  });
});

describe('stopping', () => {
  it('names the handlers that do not end', async () => {
    let begun = false;
    const { append, pool } = await run(
      [
        aSubscription(
          'stubborn',
          () => {
            begun = true;
            return new Promise(() => undefined);
          },
          { timeoutMs: 60_000 },
        ),
      ],
      { stopGraceMs: 50 },
    );
    await append(1);
    await eventually(() => expect(begun).toBe(true));

    await expect(pool.stop()).rejects.toMatchObject({
      code: 'CF_STOP_TIMEOUT',
      message: expect.stringContaining('"stubborn"') as string,
    });
  });
});

describe('dead letters', () => {
  const failing = (fail: { now: boolean }, seen: number[]): Subscription =>
    aSubscription('s', ({ data }) => {
      seen.push(data.sequence);
      if (fail.now) throw new PermanentError('not now');
    });

  it('are handled again when retried, in the order in which they died, with all their tries', async () => {
    const [fail, seen] = [{ now: true }, [] as number[]];
    const { append, settled, dead } = await run([failing(fail, seen)]);
    await append(1, 2, 3);
    await settled();
    await eventuallyDead(dead, 3);
    fail.now = false;

    expect(await dead.retry()).toBe(3);

    await eventually(() => expect(seen).toEqual([1, 2, 3, 1, 2, 3]));
    expect(await dead.count()).toBe(0);
    expect(await settled()).toEqual({ outcome: 'handled' });
  });

  it('may die again, and are retried one by one', async () => {
    const [fail, seen] = [{ now: true }, [] as number[]];
    const { append, settled, dead } = await run([failing(fail, seen)]);
    await append(1, 2);
    await settled();
    const letters = await eventuallyDead(dead, 2);
    const { id } = letters.find(({ event }) => event.data.sequence === 1)!;

    await dead.retry({ ids: [id] });
    await eventually(() => expect(seen).toEqual([1, 2, 1]));
    await eventuallyDead(dead, 2);

    const [again] = await dead.show(id);
    expect(again?.attempts.map(({ attempt }) => attempt)).toEqual([1, 1]);
    fail.now = false;
    expect(await dead.retry({ ids: [id] })).toBe(1);
    await eventually(() => expect(seen).toEqual([1, 2, 1, 1]));
  });

  it('are gone when dropped', async () => {
    const { append, settled, dead } = await run([failing({ now: true }, [])]);
    await append(1, 2, 3);
    await settled();
    await eventuallyDead(dead, 3);

    expect(await dead.drop()).toBe(3);

    expect(await dead.list()).toEqual([]);
    expect(await dead.drop()).toBe(0);
  });

  it('of a subscription nobody knows are an error that names those known', async () => {
    const { dead } = await run([failing({ now: true }, [])]);
    await expect(dead.list({ subscription: 'x' })).rejects.toMatchObject({
      code: 'CF_USAGE',
      message: 'There is no subscription "x". Known: "s".',
    });
  });
});

describe('subscriptions side by side', () => {
  it('a paused and a failing one delay no other, and hold back only their own reading', async () => {
    const seen: number[] = [];
    const paused = aSubscription('paused', () => undefined);
    const failing = aSubscription('failing', () => Promise.reject(new Error('always')), {
      retry: { attempts: 99, delayMs: 60_000, maxDelayMs: 60_000 },
    });
    const healthy = aSubscription('healthy', ({ data }) => void seen.push(data.sequence));
    const { append, dispatcher, queues } = await run([paused, failing, healthy], { highWater: 5 });
    await queues.of('paused').pause();
    const sequences = Array.from({ length: 40 }, (_, n) => n + 1);

    for (const sequence of sequences) await append(sequence);

    await eventually(() => expect(seen).toEqual(sequences));
    const statistics = await eventually(async () => {
      const all = await dispatcher.statistics();
      expect(all.find(({ name }) => name === 'healthy')).toMatchObject({ waiting: 0, active: 0, lagEvents: 0 });
      return all;
    });
    expect(statistics.find(({ name }) => name === 'failing')).toMatchObject({ dead: 0, lagEvents: 40 });
    expect(statistics.find(({ name }) => name === 'paused')).toMatchObject({ paused: true, lagEvents: 40 });
    expect(statistics.find(({ name }) => name === 'failing')!.delayed).toBeLessThan(40);
  });

  it('begin where they were told to', async () => {
    const seen: string[] = [];
    const note: Subscription['handle'] = ({ data }, { subscription }) =>
      void seen.push(`${subscription} ${data.sequence}`);
    await appendEvents(test.redis, test.keys, [changeEvent({ record: 'r1', sequence: 1 })]);
    const { append, settled } = await run([
      aSubscription('new', note, { start: 'now' }),
      aSubscription('all', note, { start: 'beginning' }),
    ]);

    await append(2);
    await settled();

    expect(seen.toSorted()).toEqual(['all 1', 'all 2', 'new 2']);
  });

  it('without an order do not wait for each other within a record', async () => {
    const seen: number[] = [];
    const { append } = await run(
      [
        aSubscription(
          's',
          async ({ data }) => {
            if (data.sequence === 1) await new Promise(() => undefined);
            seen.push(data.sequence);
          },
          { order: 'none' },
        ),
      ],
      { stopGraceMs: 10 },
    );

    await append(1, 2, 3);

    await eventually(() => expect(seen.toSorted()).toEqual([2, 3]));
  });
});

describe('waiting until all is handled', () => {
  it('tells which subscription has not handled what was asked for, and takes no notice of later events', async () => {
    const { append, dispatcher } = await run([
      aSubscription('quick', () => undefined),
      aSubscription('stuck', ({ data }) => (data.sequence === 2 ? Promise.reject(new Error('x')) : undefined), {
        retry: { attempts: 9, delayMs: 60_000, maxDelayMs: 60_000 },
      }),
    ]);
    const [first, second] = await append(1, 2);

    const upToFirst = await dispatcher.waitUntilHandled({ upTo: { [WORKSPACE]: first! }, timeoutMs: 10_000 });
    const upToSecond = await dispatcher.waitUntilHandled({ upTo: { [WORKSPACE]: second! }, timeoutMs: 100 });

    expect(upToFirst).toEqual({ outcome: 'handled' });
    expect(upToSecond).toEqual({
      outcome: 'timeout',
      unhandled: [{ subscription: 'stuck', workspace: WORKSPACE, stage: 'handling' }],
    });
  });

  it('ends when told', async () => {
    const { dispatcher } = await run([aSubscription('s', () => undefined)]);
    const told = AbortSignal.abort(new Error('enough'));
    await expect(
      dispatcher.waitUntilHandled({ upTo: { [WORKSPACE]: '1-0' }, timeoutMs: 60_000, signal: told }),
    ).rejects.toThrow('enough');
  });
});

/** A death leaves its lane before it reaches the dead letters: a moment later it is there. */
async function eventuallyDead(dead: DeadLetters, count: number): ReturnType<DeadLetters['list']> {
  return await eventually(async () => {
    const letters = await dead.list();
    expect(letters).toHaveLength(count);
    return letters;
  });
}
