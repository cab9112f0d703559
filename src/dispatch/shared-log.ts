/**
 * The end of one workspace's log, read once for all subscriptions of a dispatcher. One blocking read follows the log; what it returns is kept
 * for a while, and readers take their batches from it. A reader that is further behind reads the log itself.
 */
import { compareLogIds } from '../events/log-id.js';
import type { LoggedEvent } from '../events/types.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../redis/watch.js';
import type { LogReader } from './ports.js';

/** The longest a reader sleeps. It then looks for replays, and whether its offset was lost. */
const LONGEST_SLEEP_MS = 5_000;
/** Events kept for readers that are a little behind: a few batches. */
const KEPT = 1_000;
/** Characters of their JSON: a list may have memos of 1 MB. */
const KEPT_LENGTH = 8_000_000;

export interface SharedLog {
  /** Events after `after`: at most `count`; none when there are none yet. */
  read(after: string, count: number): Promise<readonly LoggedEvent[]>;
  /** Resolves when there are events after `after`, after a few seconds, or when aborted. */
  waitAfter(after: string, signal: AbortSignal): Promise<void>;
  /** Follows the log until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface SharedLogOptions {
  workspace: string;
  log: LogReader;
  logger: Log;
  clock?: Clock;
  watch?: RedisUse | undefined;
  loops?: LoopBoard | undefined;
}

type Kept = LoggedEvent & { length: number };

/** How many of the oldest are dropped. */
function excessOf(events: readonly Kept[]): number {
  let excess = Math.max(0, events.length - KEPT);
  let length = events.slice(excess).reduce((sum, one) => sum + one.length, 0);
  for (; length > KEPT_LENGTH; excess += 1) length -= events[excess]?.length ?? length;
  return excess;
}

export function shareLog({ workspace, log, logger, clock = systemClock, watch, loops }: SharedLogOptions): SharedLog {
  /** All events after `start`, up to `end`; undefined until the end of the log is known. */
  let kept: { start: string; end: string; events: Kept[] } | undefined;
  /** Batches of readers that are behind: several are often at the same offset. */
  const batches = new Map<string, Promise<readonly LoggedEvent[]>>();
  let next = new AbortController();

  const notify = (): void => {
    const current = next;
    next = new AbortController();
    current.abort();
  };
  const follow = async (signal: AbortSignal): Promise<number> => {
    const more = kept === undefined ? [] : await log.waitForMore(workspace, kept.end, LONGEST_SLEEP_MS, signal);
    if (kept === undefined || more.length === 0) {
      const tail = await log.tail(workspace);
      // Also when it is before `end`: the log was lost and starts again.
      if (kept === undefined || compareLogIds(tail, kept.end) < 0) kept = { start: tail, end: tail, events: [] };
    } else {
      const events = [...kept.events, ...more.map((one) => ({ ...one, length: JSON.stringify(one.event).length }))];
      const dropped = events.splice(0, excessOf(events)).at(-1);
      kept = { start: dropped?.logId ?? kept.start, end: more.at(-1)?.logId ?? kept.end, events };
    }
    notify();
    return 0;
  };
  const readBatch = async (after: string, count: number): Promise<readonly LoggedEvent[]> => {
    const key = `${after} ${count}`;
    const known = batches.get(key);
    if (known !== undefined) return known;
    const own = log.read(workspace, after, count);
    batches.set(key, own);
    // Kept only while it is read: a later reader may find more at the end of the log.
    return await own.finally(() => batches.delete(key));
  };
  return {
    async read(after, count) {
      if (kept === undefined || compareLogIds(after, kept.start) < 0) return await readBatch(after, count);
      const from = kept.events.findIndex(({ logId }) => compareLogIds(logId, after) > 0);
      return from === -1 ? [] : kept.events.slice(from, from + count);
    },
    async waitAfter(after, signal) {
      if ((kept !== undefined && compareLogIds(kept.end, after) > 0) || signal.aborted) return;
      await clock.sleep(LONGEST_SLEEP_MS, AbortSignal.any([signal, next.signal])).catch(() => undefined);
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
