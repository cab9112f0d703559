/** Starts the parts of a process in order and stops them in reverse, each once, within a deadline. */
import { ChangefeedError, messageOf, usage } from './errors.js';
import { systemClock, withinTime } from './clock.js';
import { formatDuration } from './duration.js';

export interface Part {
  readonly name: string;
  /** The signal aborts if the lifecycle is stopped before all parts have started. */
  start(signal: AbortSignal): Promise<void>;
  /** Called once, and only if `start` was called, even if it failed: a failed start may have opened something. */
  stop(): Promise<void>;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

interface StartedPart {
  readonly part: Part;
  readonly starting: Promise<void>;
}

export function createLifecycle(parts: readonly Part[], { deadlineMs = 20_000 } = {}) {
  const started: StartedPart[] = [];
  const abandon = new AbortController();
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  const startAll = async (): Promise<void> => {
    for (const part of parts) {
      abandon.signal.throwIfAborted();
      const startedPart = { part, starting: part.start(abandon.signal) };
      started.push(startedPart);
      await startedPart.starting;
    }
    abandon.signal.throwIfAborted();
  };
  const stop = (): Promise<void> => {
    abandon.abort(usage('Stopped before it had started.'));
    return (stopping ??= stopAll(started.toReversed(), deadlineMs));
  };
  return {
    /** In order. A second call returns the same promise. If a part fails, those before it are stopped. */
    start: (): Promise<void> =>
      (starting ??= startAll().catch(async (error: unknown) => {
        // The first failure is the cause; parts that then fail to stop are a consequence.
        await stop().catch(() => undefined);
        throw error;
      })),
    /** @throws ChangefeedError CF_STOP_TIMEOUT naming the parts that did not stop in time or failed to stop */
    stop,
  };
}

async function stopAll(started: readonly StartedPart[], deadlineMs: number): Promise<void> {
  const deadline = systemClock.now() + deadlineMs;
  const late: string[] = [];
  const failed: { name: string; error: unknown }[] = [];
  for (const [index, { part, starting }] of started.entries()) {
    // A part that hangs uses at most half of the remaining time, so that the parts after it are still stopped.
    const remainingMs = Math.max(0, deadline - systemClock.now());
    const share = index === started.length - 1 ? remainingMs : remainingMs / 2;
    const stopped = starting.then(
      () => part.stop(),
      () => part.stop(),
    );
    try {
      if ((await withinTime(stopped, share)) === 'late') late.push(part.name);
    } catch (error) {
      failed.push({ name: part.name, error });
    }
  }
  if (late.length + failed.length > 0) throw notStopped({ late, failed, deadlineMs });
}

interface NotStopped {
  late: readonly string[];
  failed: readonly { name: string; error: unknown }[];
  deadlineMs: number;
}

function notStopped({ late, failed, deadlineMs }: NotStopped): ChangefeedError {
  const complaints = [
    ...(late.length > 0 ? [`did not stop within ${formatDuration(deadlineMs)}: ${late.join(', ')}`] : []),
    ...failed.map(({ name, error }) => `${name} failed to stop: ${messageOf(error).replace(/\.$/, '')}`),
  ];
  return new ChangefeedError('CF_STOP_TIMEOUT', {
    message: `The stop was not clean: ${complaints.join('; ')}. Unfinished work is repeated after the next start.`,
    cause: failed[0]?.error,
    late,
  });
}
