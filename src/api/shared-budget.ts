/**
 * The request budget of a workspace, as one process uses it: which of the waiting requests get the grants (`fair-queue.ts`), when to ask
 * for more, and how many are allowed after a 429 (`allowance.ts`). However many requests wait, one of them at a time asks for all.
 */
import type { ListName } from '../crm/lists/lists.js';
import { reasonOf, sleepUntilAborted, type Clock } from '../runtime/clock.js';
import { onAbort } from '../runtime/on-abort.js';
import { allowanceAfter } from './allowance.js';
import type { Budget, BudgetLimits, BudgetWindow, Refusal, WalkLoad } from './budget.js';
import { createFairQueue } from './fair-queue.js';
import { createSpending, type Spent } from './spending.js';

export interface SharedBudget extends Budget {
  /** What the walks of a list cost and find: decides its part of the requests. */
  weigh(list: ListName, load: WalkLoad): void;
  /** What this process's requests of the last minute were for. */
  spent(): Spent[];
}

export interface SharedBudgetOptions {
  window: BudgetWindow;
  limits: BudgetLimits;
  clock: Clock;
}

/**
 * The window is longer than the server's by this share. Requests are counted when they are granted, and the server counts them when they
 * arrive: a slow one and a fast one behind it are closer together there.
 */
const MARGIN = 0.01;
/** For so many windows, a refusal says how much the other clients leave. */
const RECENT_WINDOWS = 20;

interface Waiter {
  grant(): void;
  fail(error: Error): void;
}

export function createSharedBudget({ window, limits, clock }: SharedBudgetOptions): SharedBudget {
  const limitMs = limits.perSeconds * 1_000;
  const windowMs = Math.ceil(limitMs * (1 + MARGIN));
  const queue = createFairQueue<Waiter>();
  const spending = createSpending(clock);
  let refusal: (Refusal & { seenAtMs: number }) | null = null;
  let nextAtMs = 0;
  let asking = false;
  let idle = new AbortController();

  const ask = async (): Promise<void> => {
    const known = refusal && { level: refusal.level, agoMs: refusal.agoMs + clock.now() - refusal.seenAtMs };
    const { requests: allowed, burst } = allowanceAfter(limits, known);
    const answer = await window.take({ wanted: queue.size, allowed, burst, windowMs, refusal: refusal?.id ?? null });
    if (answer.outcome === 'other refusal') {
      refusal = answer.refusal && { ...answer.refusal, seenAtMs: clock.now() };
      return;
    }
    nextAtMs = clock.now() + answer.waitMs;
    // Requests that stopped waiting meanwhile leave their grants unused.
    for (let nth = 0; nth < answer.requests; nth += 1) queue.next(clock.now())?.grant();
  };
  const askWhileSomeWait = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    try {
      while (queue.size > 0) {
        const leftMs = nextAtMs - clock.now();
        if (leftMs <= 0) {
          await ask();
          continue;
        }
        // A timer that nothing waits for would keep the process from ending.
        idle = new AbortController();
        await sleepUntilAborted(clock, leftMs, idle.signal);
      }
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error('no grant', { cause });
      for (let one = queue.next(0); one !== undefined; one = queue.next(0)) one.fail(error);
    } finally {
      asking = false;
    }
  };
  return {
    take: (request) =>
      new Promise((resolve, reject) => {
        const { signal } = request;
        if (signal?.aborted) {
          reject(reasonOf(signal));
          return;
        }
        const own: Waiter = {
          grant() {
            forget?.();
            spending.count(request);
            resolve();
          },
          fail(error) {
            forget?.();
            reject(error);
          },
        };
        const leave = (): void => {
          queue.remove(own);
          if (queue.size === 0) idle.abort();
          own.fail(reasonOf(signal));
        };
        const forget = signal && onAbort(signal, leave);
        queue.add(request, own);
        void askWhileSomeWait();
      }),
    pause: (pauseMs) => window.refused({ pauseMs, recentMs: RECENT_WINDOWS * limitMs }),
    weigh: (list, load) => queue.weigh(list, load),
    spent: () => spending.lastMinute(),
  };
}
