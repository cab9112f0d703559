/**
 * A process of a storm: `dispatch` or `handle`. Its handlers do what the plan says and write what they did into the journal.
 * If the plan has a fault for it, the process kills or stops itself at the planned point.
 */
import { writeSync } from 'node:fs';
import { createDispatcher } from '../../src/delivery/dispatcher.js';
import { createHandlerPool } from '../../src/delivery/run/handler-pool.js';
import type { RecordGate } from '../../src/delivery/groups/gate.js';
import { ChangefeedError } from '../../src/kit/errors.js';
import { PermanentError, RetryAfterError } from '../../src/delivery/handlers/errors.js';
import type { Handle } from '../../src/delivery/handlers/handler.js';
import { isoTime, systemClock } from '../../src/kit/clock.js';
import { silentLog, type Log } from '../../src/kit/log.js';
import { openConnections } from '../../src/redis/connections.js';
import { Keys } from '../../src/redis/keys.js';
import { aSubscription, fanOutDeps, openGate } from '../support/fan-out.js';
import { LOCK_MS, STALLED_CHECK_MS, SUBSCRIPTIONS, TIMEOUT_MS, actionOf, type SelfFault } from './plan.js';
import { appendEntry, type Outcome, type StormEvent } from './journal.js';

export interface StormTask {
  url: string;
  prefix: string;
  seed: number;
  file: string;
  role: 'handle' | 'dispatch';
  selfFault: SelfFault | null;
  ungated: boolean;
}

const task = JSON.parse(process.env['STORM_TASK'] ?? '{}') as StormTask;
const { pid } = process;
// Connections as in the product: they can be closed at any time, and the storm restarts Redis.
const { patient: connect } = openConnections({ url: task.url });
const redis = connect();
const keys = new Keys(task.prefix);

let points = 0;
function point(): void {
  points += 1;
  if (task.selfFault?.atPoint !== points) return;
  if (task.selfFault.kind === 'kill') {
    appendEntry(task.file, { kind: 'killed', pid });
    process.kill(pid, 'SIGKILL');
  } else {
    appendEntry(task.file, { kind: 'stopped', pid });
    // Synchronous: the line must reach the parent before the process stops.
    writeSync(1, 'stopped\n');
    process.kill(pid, 'SIGSTOP');
  }
}

async function withPoints<T>(act: () => Promise<T>): Promise<T> {
  point();
  const result = await act();
  point();
  return result;
}

function gateWithPoints(gate: RecordGate): RecordGate {
  return {
    ...gate,
    enter: (...args) => withPoints(() => gate.enter(...args)),
    standing: (...args) => withPoints(() => gate.standing(...args)),
    advance: (...args) => withPoints(() => gate.advance(...args)),
    handled: (...args) => withPoints(() => gate.handled(...args)),
    hold: (...args) => withPoints(() => gate.hold(...args)),
  };
}

let runs = 0;
const handle: Handle = async (event, { attempt, replay, subscription, signal, once }) => {
  const run = (runs += 1);
  const about: StormEvent = { subscription, record: event.subject, sequence: event.data.sequence, replay };
  appendEntry(task.file, { kind: 'begin', pid, run, attempt, ...about });
  point();
  let isOver = false;
  const end = (outcome: Outcome): void => {
    if (!isOver) appendEntry(task.file, { kind: 'end', pid, run, outcome });
    isOver = true;
  };
  // The run has ended when the signal aborts, even if a promise is still pending.
  signal.addEventListener('abort', () => end(isTimeout(signal.reason) ? 'failed' : 'aborted'));
  try {
    const n = await redis.hincrby(`${task.prefix}:runs`, `${subscription} ${about.record} ${about.sequence}`, 1);
    signal.throwIfAborted();
    if (subscription !== 'ordered')
      await once('effect', () => appendEntry(task.file, { kind: 'effect', pid, ...about }));
    await perform(actionOf(task.seed, about, n), signal);
    signal.throwIfAborted();
  } catch (error) {
    end(error instanceof PermanentError ? 'final' : 'failed');
    throw error;
  }
  end('done');
  point();
};

async function perform(action: ReturnType<typeof actionOf>, signal: AbortSignal): Promise<void> {
  if (action.kind === 'fail') throw new Error('by plan');
  if (action.kind === 'refuse') throw new PermanentError('by plan');
  if (action.kind === 'wait') throw new RetryAfterError('by plan', { retryAfter: action.retryAfterMs });
  await systemClock.sleep(action.kind === 'hang' ? 60_000 : action.ms, signal);
}

function isTimeout(error: unknown): boolean {
  return error instanceof ChangefeedError && error.code === 'CF_HANDLER_TIMEOUT';
}

/** Journals when an overloaded machine has given this process no CPU time, which has the effect of SIGSTOP. */
async function watchStarvation(): Promise<never> {
  for (let before = Date.now(); ; before = Date.now()) {
    await systemClock.sleep(50);
    if (Date.now() - before > LOCK_MS / 3) appendEntry(task.file, { kind: 'starved', pid, sinceMs: before });
  }
}

const say =
  (level: string) =>
  (facts: object, message: string): void =>
    void process.stderr.write(`${isoTime(Date.now())} ${level} ${message} ${JSON.stringify(facts)}\n`);
const logger: Log = { ...silentLog, info: say('info'), warn: say('warn'), error: say('error'), child: () => logger };

const deps = fanOutDeps({ redis, keys, connect });
const subscriptions = SUBSCRIPTIONS.map(({ name, ...rest }) =>
  aSubscription(name, handle, {
    ...rest,
    concurrency: 8,
    // The storm kills and stops processes whatever they handle: no event becomes a dead letter for it.
    retry: { attempts: 1_000, delayMs: 10, maxDelayMs: 60 },
    timeoutMs: TIMEOUT_MS,
  }),
);
const options = {
  ...deps,
  logger,
  gate: gateWithPoints(task.ungated ? openGate({ redis, keys }) : deps.gate),
  subscriptions,
  highWater: 400,
  lostJobsMs: LOCK_MS,
  stopGraceMs: 300,
  timing: { lockMs: LOCK_MS, stalledCheckMs: STALLED_CHECK_MS },
};
const log: typeof deps.log = { ...deps.log, event: (...args) => withPoints(() => deps.log.event(...args)) };
const part = task.role === 'dispatch' ? createDispatcher(options) : createHandlerPool({ ...options, log });
void watchStarvation();
process.once('SIGTERM', () => {
  logger.info({}, 'stopping');
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
