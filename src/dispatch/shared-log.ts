/** What all readers of one workspace's log share: a notifier, so that none has to poll, and the batches that several need. */
import type { LoggedEvent } from '../events/types.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import type { RedisUse } from '../runtime/redis-watch.js';
import type { LogReader } from './ports.js';

/** The longest a reader sleeps. If a notification is ever missed, this bounds the delay. */
const LONGEST_SLEEP_MS = 5_000;

export interface LogNotifier {
  /** How often readers have been notified. Take it before reading the log, so that `waitAfter` misses no event that came since. */
  readonly count: number;
  /** Resolves when readers have been notified since `count`, after a few seconds, or when aborted. */
  waitAfter(count: number, signal: AbortSignal): Promise<void>;
  /** Follows the log until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface LogNotifierOptions {
  workspace: string;
  log: LogReader;
  logger: Log;
  clock?: Clock;
  watch?: RedisUse | undefined;
  loops?: LoopBoard | undefined;
}

export function createLogNotifier(options: LogNotifierOptions): LogNotifier {
  const { workspace, log, logger, clock = systemClock, watch, loops } = options;
  let count = 0;
  let next = new AbortController();
  let seen: string | undefined;

  const notify = (): void => {
    count += 1;
    const current = next;
    next = new AbortController();
    current.abort();
  };
  const follow = async (signal: AbortSignal): Promise<number> => {
    // The first turn does not wait but notifies: readers may not have read what is in the log already.
    if (seen !== undefined) await log.waitForMore(workspace, seen, LONGEST_SLEEP_MS, signal);
    const tail = await log.tail(workspace);
    // Also when the tail is before `seen`: the log was lost and starts again.
    if (tail !== seen) notify();
    seen = tail;
    return 0;
  };
  return {
    get count() {
      return count;
    },
    async waitAfter(since, signal) {
      if (count !== since || signal.aborted) return;
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

/** How many batches of one workspace are cached: enough for readers close to each other. */
const CACHED_BATCHES = 4;

/**
 * Fetches and parses a batch once for all subscriptions at the same offset. Only full batches are shared, because they never
 * change. At the end of the log each reader fetches its own, or it would miss what was appended since.
 */
export function shareReading(log: Pick<LogReader, 'read'>): Pick<LogReader, 'read'> {
  const batches = new Map<string, Promise<readonly LoggedEvent[]>>();

  const cache = (key: string, batch: Promise<readonly LoggedEvent[]>): void => {
    batches.set(key, batch);
    const [oldest] = batches.keys();
    if (batches.size > CACHED_BATCHES && oldest !== undefined) batches.delete(oldest);
  };
  return {
    async read(workspace, after, count) {
      const key = `${workspace} ${after} ${count}`;
      const known = batches.get(key);
      // No `await` before `cache` when there is no known batch: a concurrent reader must find this one.
      const shared = known === undefined ? undefined : await known.catch(() => undefined);
      if (shared?.length === count) return [...shared];
      const own = log.read(workspace, after, count);
      cache(key, own);
      const batch = await own;
      if (batch.length < count && batches.get(key) === own) batches.delete(key);
      return batch;
    },
  };
}
