/** The workspace's budget as one process uses it. However many requests wait, one at a time asks for all. */
import type { ListName } from '../../crm/lists/lists.js';
import { reasonOf, sleepUntilAborted, type Clock, onAbort, OVER } from '../../kit/clock.js';
import { allowanceAfter } from './allowance.js';
import type { Budget, BudgetLimits, BudgetWindow, Refusal, WalkLoad } from './budget.js';
import { createFairQueue } from './fair-queue.js';

export interface SharedBudget extends Budget {
  weigh(list: ListName, load: WalkLoad): void;
}

export interface SharedBudgetOptions {
  window: BudgetWindow;
  limits: BudgetLimits;
  clock: Clock;
}

/** The window is longer than the server's by this share: we count when granted, the server when they arrive. */
const MARGIN = 0.01;
/** A refusal says for so many windows how much the other clients leave. */
const RECENT_WINDOWS = 20;

interface Waiter {
  grant(): void;
  fail(error: Error): void;
}

export function createSharedBudget(options: SharedBudgetOptions): SharedBudget {
  const { window, limits, clock } = options;
  const queue = createFairQueue<Waiter>();
  const ask = asks(options);
  let nextAtMs = -Infinity;
  let asking = false;
  let idle = new AbortController();

  const askWhileSomeWait = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    try {
      while (queue.size > 0) {
        const leftMs = nextAtMs - clock.monotonic();
        if (leftMs <= 0) {
          const { requests, waitMs } = await ask(queue.size);
          nextAtMs = clock.monotonic() + waitMs;
          // Requests that stopped waiting meanwhile leave their grants unused.
          for (let nth = 0; nth < requests; nth += 1) queue.next(clock.monotonic())?.grant();
          continue;
        }
        // A timer that nothing waits for would keep the process from ending.
        idle = new AbortController();
        await sleepUntilAborted(clock, leftMs, idle.signal);
      }
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error('no grant', { cause });
      for (let waiter = queue.next(0); waiter !== undefined; waiter = queue.next(0)) waiter.fail(error);
    } finally {
      asking = false;
    }
  };
  return {
    take: (request) =>
      waiting(request.signal, (waiter) => {
        queue.add(request, waiter);
        void askWhileSomeWait();
        return () => {
          queue.remove(waiter);
          if (queue.size === 0) idle.abort(OVER);
        };
      }),
    pause: (pauseMs) => window.refused({ pauseMs, recentMs: RECENT_WINDOWS * limits.perSeconds * 1_000 }),
    weigh: (list, load) => queue.weigh(list, load),
  };
}

/** Rejects when the waiter fails, or with the signal's reason. @param enqueue returns how to leave the queue */
function waiting(signal: AbortSignal | undefined, enqueue: (waiter: Waiter) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(reasonOf(signal));
      return;
    }
    const fail = (error: Error): void => {
      forget?.();
      reject(error);
    };
    const grant = (): void => {
      forget?.();
      resolve();
    };
    const leave = enqueue({ grant, fail });
    const abort = (): void => {
      leave();
      fail(reasonOf(signal));
    };
    const forget = signal && onAbort(signal, abort);
  });
}

/** Asks for so many grants: how many there are now, and how long to wait before the next is free. */
function asks({ window, limits, clock }: SharedBudgetOptions) {
  const windowMs = Math.ceil(limits.perSeconds * 1_000 * (1 + MARGIN));
  let refusal: (Refusal & { seenAtMs: number }) | null = null;
  return async (wanted: number): Promise<{ requests: number; waitMs: number }> => {
    const last = refusal && { level: refusal.level, agoMs: refusal.agoMs + clock.monotonic() - refusal.seenAtMs };
    const { requests: allowed, burst } = allowanceAfter(limits, last);
    const answer = await window.take({ wanted, allowed, burst, windowMs, refusal: refusal?.id ?? null });
    if (answer.outcome === 'granted') return answer;
    refusal = answer.refusal && { ...answer.refusal, seenAtMs: clock.monotonic() };
    return { requests: 0, waitMs: 0 };
  };
}
