/**
 * A process of a storm: `dispatch` or `handle`. Its handlers do what the plan says and write down themselves what they did;
 * at the point it was given, the process kills or stops itself.
 */
import { writeSync } from 'node:fs';
import { Redis } from 'ioredis';
import { createDispatcher } from '../../src/dispatch/dispatcher.js';
import { createHandlerPool } from '../../src/dispatch/handler-pool.js';
import type { RecordGate } from '../../src/dispatch/ports.js';
import { ChangefeedError } from '../../src/errors.js';
import { PermanentError, RetryAfterError } from '../../src/handlers/errors.js';
import type { Handle } from '../../src/handlers/handler.js';
import { systemClock } from '../../src/runtime/clock.js';
import { Keys } from '../../src/state/keys.js';
import { aSubscription, fanOutDeps, openGate, wrapGate } from '../support/fan-out.js';
import { ATTEMPTS, LOCK_MS, STALLED_CHECK_MS, SUBSCRIPTIONS, TIMEOUT_MS, deedOf, type SelfHarm } from './plan.js';
import { note, type Outcome, type Told } from './journal.js';

export interface StormTask {
  url: string;
  prefix: string;
  seed: number;
  file: string;
  role: 'handle' | 'dispatch';
  harm: SelfHarm | null;
  /** The control: no gate. */
  ungated: boolean;
}

const task = JSON.parse(process.env['STORM_TASK'] ?? '{}') as StormTask;
const { pid } = process;
const connect = (): Redis => new Redis(task.url, { maxRetriesPerRequest: null });
const redis = connect();
const keys = new Keys(task.prefix);

let points = 0;
function point(): void {
  points += 1;
  if (task.harm?.atPoint !== points) return;
  if (task.harm.does === 'kill') {
    note(task.file, { kind: 'gone', pid });
    process.kill(pid, 'SIGKILL');
  } else {
    note(task.file, { kind: 'stopped', pid });
    // Whoever started us has to hear it before we fall silent.
    writeSync(1, 'stopped\n');
    process.kill(pid, 'SIGSTOP');
  }
}

async function between<T>(act: () => Promise<T>): Promise<T> {
  point();
  const result = await act();
  point();
  return result;
}

function harmful(gate: RecordGate): RecordGate {
  return wrapGate(gate, {
    enter: (...args) => between(() => gate.enter(...args)),
    reenter: (...args) => between(() => gate.reenter(...args)),
    turn: (...args) => between(() => gate.turn(...args)),
    leave: (...args) => between(() => gate.leave(...args)),
    hold: (...args) => between(() => gate.hold(...args)),
  });
}

let runs = 0;
const handle: Handle = async (event, { attempt, replay, subscription, signal, once }) => {
  const run = (runs += 1);
  const about: Told = { subscription, record: event.subject, sequence: event.data.sequence, replay };
  note(task.file, { kind: 'begin', pid, run, attempt, ...about });
  point();
  let isOver = false;
  const end = (outcome: Outcome): void => {
    if (!isOver) note(task.file, { kind: 'end', pid, run, outcome });
    isOver = true;
  };
  // Nothing is done after the signal has aborted, whatever is still being waited for.
  signal.addEventListener('abort', () => end(isTimeout(signal.reason) ? failedAt(attempt) : 'aborted'));
  try {
    const n = await redis.hincrby(`${task.prefix}:runs`, `${subscription} ${about.record} ${about.sequence}`, 1);
    signal.throwIfAborted();
    if (subscription !== 'ordered') await once('effect', () => note(task.file, { kind: 'effect', pid, ...about }));
    await act(deedOf(task.seed, about, n), signal);
    signal.throwIfAborted();
  } catch (error) {
    end(error instanceof PermanentError ? 'final' : failedAt(attempt));
    throw error;
  }
  end('done');
  point();
};

function failedAt(attempt: number): Outcome {
  return attempt >= ATTEMPTS ? 'final' : 'failed';
}

async function act(deed: ReturnType<typeof deedOf>, signal: AbortSignal): Promise<void> {
  if (deed.does === 'fail') throw new Error('by plan');
  if (deed.does === 'refuse') throw new PermanentError('by plan');
  if (deed.does === 'wait') throw new RetryAfterError('by plan', { retryAfter: deed.retryAfterMs });
  await systemClock.sleep(deed.does === 'hang' ? 60_000 : deed.ms, signal);
}

function isTimeout(error: unknown): boolean {
  return error instanceof ChangefeedError && error.code === 'CF_HANDLER_TIMEOUT';
}

/** A machine without time to spare stops a process as SIGSTOP does. */
async function watchSleep(): Promise<never> {
  for (let before = Date.now(); ; before = Date.now()) {
    await systemClock.sleep(50);
    if (Date.now() - before > LOCK_MS / 3) note(task.file, { kind: 'slept', pid, sinceMs: before });
  }
}

const deps = fanOutDeps({ redis, keys, connect });
const subscriptions = SUBSCRIPTIONS.map(({ name, ...rest }) =>
  aSubscription(name, handle, {
    ...rest,
    concurrency: 8,
    retry: { attempts: ATTEMPTS, delayMs: 10, maxDelayMs: 60 },
    timeoutMs: TIMEOUT_MS,
  }),
);
const options = {
  ...deps,
  gate: harmful(task.ungated ? openGate : deps.gate),
  subscriptions,
  highWater: 400,
  stopGraceMs: 300,
  timing: { lockMs: LOCK_MS, stalledCheckMs: STALLED_CHECK_MS },
};
const part = task.role === 'dispatch' ? createDispatcher(options) : createHandlerPool(options);
void watchSleep();
process.once('SIGTERM', () => {
  part.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
await part.start();
process.stdout.write('running\n');
