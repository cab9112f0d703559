/** A workspace's log for all of a dispatcher's subscriptions: one blocking read, and one read per batch at a time. */
import { compareLogIds } from '../../events/log-id.js';
import type { LoggedEvent } from '../../events/types.js';
import type { Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import { runLoop, type LoopBoard } from '../../kit/loop.js';
import type { RedisUse } from '../../redis/watch.js';
import type { EventLog } from '../../log/event-log.js';

/** The longest a reader sleeps. It then looks for replays, and whether its offset was lost. */
const LONGEST_SLEEP_MS = 5_000;

export type SharedLog = ReturnType<typeof shareLog>;

interface SharedLogOptions {
  workspace: string;
  log: EventLog;
  logger: Log;
  clock: Clock;
  watch: RedisUse;
  loops: LoopBoard;
}

export function shareLog({ workspace, log, logger, clock, watch, loops }: SharedLogOptions) {
  /** The end of the log; undefined until it is known. */
  let end: string | undefined;
  let grown = new AbortController();
  const reads = new Map<string, Promise<readonly LoggedEvent[]>>();

  const follow = async (signal: AbortSignal): Promise<number> => {
    if (end !== undefined) await log.waitForMore(workspace, end, LONGEST_SLEEP_MS, signal);
    // It may be before the last one: the log was lost and starts again.
    end = await log.tail(workspace);
    const notified = grown;
    grown = new AbortController();
    notified.abort();
    return 0;
  };
  return {
    /** As `EventLog.read`. */
    async read(after: string, count: number): Promise<readonly LoggedEvent[]> {
      const key = `${after} ${count}`;
      const shared = reads.get(key);
      if (shared !== undefined) return await shared;
      const own = log.read(workspace, { from: after, limit: count });
      reads.set(key, own);
      // Kept only while it is read: a later reader may find more at the end of the log.
      return await own.finally(() => reads.delete(key));
    },
    /** Resolves when there are events after `after`, the time is up (default: a few seconds), or when aborted. */
    async waitAfter(after: string, signal: AbortSignal, atMostMs = LONGEST_SLEEP_MS): Promise<void> {
      if ((end !== undefined && compareLogIds(end, after) > 0) || signal.aborted) return;
      await clock.sleep(atMostMs, AbortSignal.any([signal, grown.signal])).catch(() => undefined);
    },
    run: (signal: AbortSignal): Promise<void> =>
      runLoop({
        name: `follow ${workspace}`,
        run: follow,
        ready: (within) => watch.untilUsable(within),
        signal,
        log: logger,
        clock,
        loops,
      }),
  };
}
