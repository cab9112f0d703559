/** One loop per list. The lease decides which process sweeps. Redis keeps the last sweeps' times, not the schedule. */
import type { ListName } from '../../crm/lists/lists.js';
import type { Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import { runLoop, type LoopBoard } from '../../kit/loop.js';

export interface PolledList {
  workspace: string;
  list: ListName;
}

export interface PollerDeps {
  lists: readonly PolledList[];
  /** How long until the list is due, in ms. */
  dueInMs: (list: PolledList) => Promise<number>;
  /** One sweep; calls `alive` with its progress. Returns how long to wait before the list's times are read again, in ms. */
  sweep: (list: PolledList, watch: { signal: AbortSignal; alive: () => void }) => Promise<number>;
  /** Uses the list's shortcuts until `untilMs` of the monotonic clock at the latest; returns when they may be due again. @defaultValue the loop only waits */
  watch?: (list: PolledList, watch: { signal: AbortSignal; alive: () => void; untilMs: number }) => Promise<number>;
  /** Resolves when Redis can be written to, or when the signal aborts. */
  ready: (signal: AbortSignal) => Promise<void>;
  log: Log;
  clock: Clock;
  loops: LoopBoard;
}

/** How soon this process notices that another one changed the times, or that they were lost. */
const RECHECK_MS = 2_000;
/** A list is watched for this long, then left alone for a moment, in which a sweep that a person asks for gets it. */
const WATCH_MS = 4_000;
const LEAVE_MS = 1_000;
/** The same for a list that waits for long and has no page to read before. */
const IDLE_MS = 5_000;
/** Every answer is progress. It takes at most 30 s, and so does the wait before the next try. */
const STALL_MS = 180_000;

export function createPoller({ lists, dueInMs, sweep, watch, ready, log, clock, loops }: PollerDeps) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: readonly Promise<void>[] = [];

  const turn = async (list: PolledList, within: AbortSignal, alive: () => void): Promise<number> => {
    const waitMs = await dueInMs(list);
    if (waitMs > LEAVE_MS && watch !== undefined) {
      const untilMs = clock.monotonic() + Math.min(waitMs - LEAVE_MS, WATCH_MS);
      const againMs = (await watch(list, { signal: within, alive, untilMs })) - clock.monotonic();
      return Math.max(LEAVE_MS, Math.min(againMs, waitMs, IDLE_MS));
    }
    if (waitMs > 0) return Math.min(waitMs, RECHECK_MS);
    return Math.min(await sweep(list, { signal: within, alive }), RECHECK_MS);
  };
  const start = (list: PolledList): Promise<void> => {
    const run = (within: AbortSignal, alive: () => void): Promise<number> => turn(list, within, alive);
    const name = `poll ${list.workspace} ${list.list}`;
    return runLoop({ name, run, ready, signal, stallMs: STALL_MS, log, clock, loops });
  };
  return {
    start(): void {
      running = lists.map(start);
    },
    /** Aborts running sweeps; their checkpoints are kept. */
    async stop(): Promise<void> {
      stopping.abort(new Error('The poller is stopping.'));
      await Promise.all(running);
    },
  };
}
