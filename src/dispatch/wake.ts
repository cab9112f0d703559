/** One follower per workspace's log: it tells all readers at once that there is more, so that none has to poll. */
import { systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../runtime/redis-watch.js';
import type { LogReader } from './ports.js';

/** The longest a reader sleeps: should a notice ever be missed, this is how late it is. */
const LONGEST_SLEEP_MS = 5_000;

export interface LogBell {
  /** Read it before looking into the log: `waitAfter` it then misses nothing that came since. */
  readonly rings: number;
  /** Resolves when the bell has rung since `rings`, or after a few seconds, or when aborted. */
  waitAfter(rings: number, signal: AbortSignal): Promise<void>;
  /** Follows the log until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface LogBellOptions {
  workspace: string;
  log: LogReader;
  logger: Log;
  clock?: Clock;
  watch?: RedisUse | undefined;
  loops?: LoopBoard | undefined;
}

export function createLogBell({ workspace, log, logger, clock = systemClock, watch, loops }: LogBellOptions): LogBell {
  let rings = 0;
  let ringing = new AbortController();
  let seen: string | undefined;

  const ring = (): void => {
    rings += 1;
    const rung = ringing;
    ringing = new AbortController();
    rung.abort();
  };
  const follow = async (signal: AbortSignal): Promise<number> => {
    // Rung at the first look as well: what came before it may not have been read yet.
    if (seen !== undefined) await log.waitForMore(workspace, seen, LONGEST_SLEEP_MS, signal);
    const tail = await log.tail(workspace);
    // Also when it is behind what was seen: the log was lost and begun again.
    if (tail !== seen) ring();
    seen = tail;
    return 0;
  };
  return {
    get rings() {
      return rings;
    },
    async waitAfter(since, signal) {
      if (rings !== since || signal.aborted) return;
      await clock.sleep(LONGEST_SLEEP_MS, AbortSignal.any([signal, ringing.signal])).catch(() => undefined);
    },
    run: (signal) =>
      runLoop({
        name: `follow ${workspace}`,
        run: follow,
        ...(watch && { ready: (within) => watch.untilUsable(within) }),
        signal,
        log: logger,
        clock,
        ...(loops && { loops }),
      }),
  };
}
