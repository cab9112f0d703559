/**
 * The request budget of a workspace, as one process uses it: which of the waiting requests get the grants (`fair-queue.ts`), and when to
 * ask for more (`grants.ts`). However many requests wait, one of them at a time asks for all.
 */
import type { ListName } from '../crm/lists/lists.js';
import { isAborted, type Clock } from '../runtime/clock.js';
import type { Budget, WalkLoad } from './budget.js';
import { createFairQueue } from './fair-queue.js';
import { createGrants, type GrantsOptions } from './grants.js';
import { createSpending, type Spent } from './spending.js';
import { onAbort } from '../runtime/on-abort.js';

export interface SharedBudget extends Budget {
  /** What the walks of a list cost and find: decides its part of the requests. */
  weigh(list: ListName, load: WalkLoad): void;
  /** What this process's requests of the last minute were for. */
  spent(): Spent[];
}

interface Waiter {
  grant(): void;
  fail(error: unknown): void;
}

export function createSharedBudget(options: GrantsOptions): SharedBudget {
  const { clock } = options;
  const grants = createGrants(options);
  const queue = createFairQueue<Waiter>();
  const spending = createSpending(clock);
  let nextAtMs = 0;
  let asking = false;
  let idle = new AbortController();

  const waitOrAsk = async (): Promise<void> => {
    const leftMs = nextAtMs - clock.now();
    if (leftMs > 0) {
      idle = new AbortController();
      await sleepUnlessIdle(clock, leftMs, idle.signal);
      return;
    }
    const { requests, waitMs } = await grants.ask(queue.size);
    nextAtMs = clock.now() + waitMs;
    // Requests that stopped waiting meanwhile leave their grants unused.
    for (let nth = 0; nth < requests; nth += 1) queue.next(clock.now())?.grant();
  };
  const askWhileSomeWait = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    try {
      while (queue.size > 0) await waitOrAsk();
    } catch (error) {
      for (let one = queue.next(0); one !== undefined; one = queue.next(0)) one.fail(error);
    } finally {
      asking = false;
    }
  };
  return {
    take: (request) =>
      waiting(request.signal, (waiter) => {
        const grant = (): void => {
          spending.count(request);
          waiter.grant();
        };
        const own = { ...waiter, grant };
        queue.add(request, own);
        void askWhileSomeWait();
        return () => {
          queue.remove(own);
          if (queue.size === 0) idle.abort();
        };
      }),
    pause: (ms) => grants.refused(ms),
    weigh: (list, load) => queue.weigh(list, load),
    spent: () => spending.lastMinute(),
  };
}

/**
 * Resolves when the waiter gets its grant; rejects when it fails, or with the signal's reason.
 * @param enqueue returns how to leave the queue
 */
function waiting(signal: AbortSignal | undefined, enqueue: (waiter: Waiter) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal !== undefined && isAborted(signal)) {
      reject(reasonOf(signal));
      return;
    }
    const settle = (): void => forget?.();
    const leave = enqueue({
      grant() {
        settle();
        resolve();
      },
      fail(error) {
        settle();
        reject(error instanceof Error ? error : new Error('no grant', { cause: error }));
      },
    });
    const abort = (): void => {
      leave();
      settle();
      if (signal !== undefined) reject(reasonOf(signal));
    };
    const forget = signal && onAbort(signal, abort);
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

/** A timer that nothing waits for would keep the process from ending. */
async function sleepUnlessIdle(clock: Clock, ms: number, idle: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, idle);
  } catch (error) {
    if (!isAborted(idle)) throw error;
  }
}
