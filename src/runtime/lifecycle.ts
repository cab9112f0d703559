/** Starting and stopping a process's parts: in order, in reverse, each once, and never for ever. */
import { ChangefeedError, messageOf } from '../errors.js';
import { systemClock, type Clock } from './clock.js';
import { formatDuration } from './duration.js';

export interface Part {
  readonly name: string;
  /** The signal aborts when the whole is stopped before it has started. */
  start(signal: AbortSignal): Promise<void>;
  /** Called once, and only if `start` was called; also after a `start` that failed, which may have left half of itself. */
  stop(): Promise<void>;
}

export interface LifecycleOptions {
  /** For all parts together, in ms. @defaultValue 20000 */
  deadlineMs?: number;
  clock?: Clock;
}

export interface Lifecycle {
  /** Starts the parts in order. Called again, it gives the same promise. A part that fails stops those before it. */
  start(): Promise<void>;
  /**
   * Waits for a start in flight, then stops the parts in reverse. Called again, it gives the same promise.
   * @throws ChangefeedError CF_STOP_TIMEOUT naming what did not stop in time or failed to
   */
  stop(): Promise<void>;
}

interface Begun {
  readonly part: Part;
  readonly starting: Promise<void>;
}

export function createLifecycle(
  parts: readonly Part[],
  { deadlineMs = 20_000, clock = systemClock }: LifecycleOptions = {},
): Lifecycle {
  const begun: Begun[] = [];
  const abandon = new AbortController();
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  const startAll = async (): Promise<void> => {
    for (const part of parts) {
      abandon.signal.throwIfAborted();
      const one = { part, starting: part.start(abandon.signal) };
      begun.push(one);
      await one.starting;
    }
    abandon.signal.throwIfAborted();
  };
  const stop = (): Promise<void> => {
    abandon.abort(new ChangefeedError('CF_USAGE', { message: 'Stopped before it had started.' }));
    return (stopping ??= stopAll(begun.toReversed(), { deadlineMs, clock }));
  };
  return {
    start: () =>
      (starting ??= startAll().catch(async (error: unknown) => {
        // The first failure is the one to tell; what then fails to stop is a consequence.
        await stop().catch(() => undefined);
        throw error;
      })),
    stop,
  };
}

async function stopAll(begun: readonly Begun[], { deadlineMs, clock }: Required<LifecycleOptions>): Promise<void> {
  const deadline = clock.now() + deadlineMs;
  const late: string[] = [];
  const failed: { name: string; error: unknown }[] = [];
  for (const [index, { part, starting }] of begun.entries()) {
    // One that hangs takes at most half of what is left, so that those below it are still stopped.
    const left = Math.max(0, deadline - clock.now());
    const share = index === begun.length - 1 ? left : left / 2;
    const stopped = starting.then(
      () => part.stop(),
      () => part.stop(),
    );
    try {
      if ((await withinTime(stopped, share, clock)) === 'late') late.push(part.name);
    } catch (error) {
      failed.push({ name: part.name, error });
    }
  }
  if (late.length + failed.length > 0) throw notStopped({ late, failed, deadlineMs });
}

async function withinTime(work: Promise<void>, ms: number, clock: Clock): Promise<'done' | 'late'> {
  const done = new AbortController();
  try {
    return await Promise.race([
      work.then(() => 'done' as const),
      clock.sleep(ms, done.signal).then(
        () => 'late' as const,
        () => 'done' as const,
      ),
    ]);
  } finally {
    done.abort();
  }
}

interface NotStopped {
  late: readonly string[];
  failed: readonly { name: string; error: unknown }[];
  deadlineMs: number;
}

function notStopped({ late, failed, deadlineMs }: NotStopped): ChangefeedError {
  const complaints = [
    ...(late.length > 0 ? [`did not stop within ${formatDuration(deadlineMs)}: ${late.join(', ')}`] : []),
    ...failed.map(({ name, error }) => `${name} failed to stop: ${messageOf(error)}`),
  ];
  return new ChangefeedError('CF_STOP_TIMEOUT', {
    message: `Stopping was not clean: ${complaints.join('; ')}. What was not finished is taken up at the next start.`,
    cause: failed[0]?.error,
    late,
  });
}
