/** The request budget of a workspace, as a token bucket in Redis that all processes share. */
import type { Redis } from 'ioredis';
import type { Budget, BudgetLimits } from '../api/budget.js';
import type { Clock } from '../runtime/clock.js';
import type { Keys } from './keys.js';
import { loadScript, unexpectedAnswer, words } from './scripts.js';

const takeBudget = loadScript('take-budget');
const pauseBudget = loadScript('pause-budget');

export interface RedisBudgetOptions {
  redis: Redis;
  keys: Keys;
  workspace: string;
  limits: BudgetLimits;
  clock: Clock;
}

export function createBudget({ redis, keys, workspace, limits, clock }: RedisBudgetOptions): Budget {
  const { priceMs, burstMs } = bucketOf(limits);
  const bucket = [keys.budget(workspace), keys.budgetPause(workspace)];
  return {
    async take(signal) {
      for (;;) {
        signal?.throwIfAborted();
        const [word, ms] = words(takeBudget, await takeBudget.run(redis, bucket, [priceMs, burstMs]));
        if (word === 'granted') return;
        if (word !== 'wait') throw unexpectedAnswer(takeBudget, word);
        await clock.sleep(Number(ms), signal);
      }
    },
    async pause(ms) {
      await pauseBudget.run(redis, [keys.budgetPause(workspace)], [Math.max(1, Math.ceil(ms))]);
    },
  };
}

/**
 * The size of a token bucket with which no window of `perSeconds` contains more than `requests`: a full bucket plus what is added
 * during the window. (A bucket as large as the limit would allow twice the limit within one window.) A tenth of the limit may
 * be spent at once: enough for all lists to start together, while 9 of 10 requests are evenly spaced.
 */
export function bucketOf({ requests, perSeconds }: BudgetLimits): { priceMs: number; burstMs: number } {
  const burst = Math.max(1, Math.ceil(requests / 10));
  const priceMs = (perSeconds * 1_000) / (requests - burst + 1);
  return { priceMs, burstMs: burst * priceMs };
}
