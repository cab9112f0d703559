/** A process that responds too late to keep its locks: what becomes of the events in flight. */
import { Worker } from 'bullmq';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Interrupt } from '../../src/delivery/run/attempt.js';
import type { Handle } from '../../src/delivery/handlers/handler.js';
import { attempt } from '../../src/delivery/run/run-delivery.js';
import type { Run, RunContext } from '../../src/delivery/run/run-state.js';
import { TakenOver } from '../../src/delivery/run/run.js';
import { systemClock } from '../../src/kit/clock.js';
import { eventually } from '../support/eventually.js';
import { aSubscription, fanOutDeps } from '../support/fan-out.js';
import { appendEvents, changeEvent, firstChangesOf } from '../support/events.js';
import { heardLog, type Heard } from '../support/heard-log.js';
import { useRedis } from '../support/redis.js';
import { runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const EVENTS = 8;
const TIMING = { lockMs: 1_000, stalledCheckMs: 100 };

const warningsIn = (heard: readonly Heard[]): string[] =>
  heard.flatMap(({ level, facts, message }) => (level === 'warn' ? [`${String(facts['times'])} ${message}`] : []));

/**
 * All events are in flight when their locks expire. Returns how many of the runs that follow are in flight at once.
 */
async function losingLocks() {
  const runs = new Map<string, number>();
  let inFlight = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const handle: Handle = async ({ subject }, { signal }) => {
    const isSecond = runs.has(subject);
    runs.set(subject, (runs.get(subject) ?? 0) + 1);
    if (!isSecond) await systemClock.sleep(60_000, signal);
    inFlight += 1;
    await released;
    inFlight -= 1;
  };
  const { log: logger, heard } = heardLog();
  const subscription = aSubscription('s', handle, { concurrency: 2 * EVENTS });
  const fanOut = await runFanOut(test, [subscription], { timing: TIMING, logger });
  const records = Array.from({ length: EVENTS }, (_, index) => `r${index}`);
  await appendEvents(test, firstChangesOf(...records));
  await eventually(() => expect(runs.size).toBe(EVENTS));
  await test.redis.del(...(await test.redis.keys(test.keys.jobLock('s', '*'))));
  return { ...fanOut, heard, release, runs, inFlight: () => inFlight };
}

it('late: events whose locks were lost run again side by side, as their next attempt, with one line for each cause', async () => {
  const { inFlight, release, settled, dead, pool, runs, heard } = await losingLocks();
  await eventually(() => expect(inFlight()).toBe(EVENTS));
  release();

  expect(await settled()).toEqual({ outcome: 'handled' });
  expect([...runs.values()]).toEqual(Array<number>(EVENTS).fill(2));
  expect(await dead.count()).toBe(0);
  await pool.stop();
  expect(warningsIn(heard).toSorted()).toEqual([
    `${EVENTS} events are handled again: their process crashed, or did not respond for too long`,
    `${EVENTS} this process did not respond for too long: events it was handling go to another run`,
  ]);
});

it('late: a run whose process was suspended before it called the handler does not call it', async () => {
  const called: string[] = [];
  const handle: Handle = ({ subject }) => {
    called.push(subject);
    // Nothing else of the process runs meanwhile, as while it is suspended; then the locks of both runs are over.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  };
  const deps = fanOutDeps(test);
  onTestFinished(() => deps.log.close());
  const context = { ...deps, subscription: aSubscription('s', handle), failing: { over: () => undefined }, lockMs: 50 };
  const untilMs = systemClock.monotonic() + 50;
  const attempted = ['a', 'b'].map(async (record) => {
    const event = changeEvent({ record, sequence: 1 });
    const lock = { token: 't', interrupt: new Interrupt(), untilMs };
    const delivery = { id: record, workspace: 'acme', logId: '1-0', event };
    // Another process has the job by then.
    const job = { extendLock: () => Promise.resolve(0) };
    return await attempt(
      { job, lock, delivery, attempt: 1, beganMs: 0 } as unknown as Run,
      context as unknown as RunContext,
    );
  });
  const [one, other] = await Promise.allSettled(attempted);
  expect(called).toEqual(['a']);
  expect(one).toMatchObject({ value: { outcome: 'delivered' } });
  expect(other).toMatchObject({ reason: expect.any(TakenOver) as unknown });
});

it('clock: a handler that lasts longer than its lock runs once when the clock is put back meanwhile', async () => {
  const begun: number[] = [];
  const handle: Handle = async ({ data }, { signal }) => {
    begun.push(data.sequence);
    await systemClock.sleep(4 * TIMING.lockMs, signal);
  };
  const { append, settled } = await runFanOut(test, [aSubscription('s', handle)], { timing: TIMING });
  await append(1);
  await eventually(() => expect(begun).toEqual([1]));
  const wall = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() - 600_000);
  onTestFinished(() => wall.mockRestore());

  expect(await settled(20_000)).toEqual({ outcome: 'handled' });
  expect(begun).toEqual([1]);
});

it('log: a thousand errors of a worker are one line for each cause', async () => {
  const ready = vi.spyOn(Worker.prototype, 'waitUntilReady');
  onTestFinished(() => ready.mockRestore());
  const { log: logger, heard } = heardLog();
  const { pool } = await runFanOut(test, [aSubscription('s', () => undefined)], { logger });
  const worker = ready.mock.contexts[0] as Worker;
  for (let n = 0; n < 1_000; n += 1)
    worker.emit('error', new Error(`Missing lock for job evt_${n}.1-1. moveToFinished`));
  worker.emit('error', new Error('MISCONF Redis is configured to save'));
  await pool.stop();
  expect(warningsIn(heard)).toEqual([
    '1000 worker error, the worker continues',
    '1 worker error, the worker continues',
  ]);
});
