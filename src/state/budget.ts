import type { Redis } from 'ioredis';
import type { Budget, BudgetLimits } from '../api/budget.js';
import type { Clock } from '../runtime/clock.js';
import { unexpectedAnswer, words } from './answer.js';
import type { Keys } from './keys.js';
import { loadScript } from './scripts.js';

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
 * A bucket such that *no* window of `perSeconds` ever holds more than `requests`: a full bucket plus what drips in during
 * the window. (A bucket as large as the window's limit would let twice that through around its first second.)
 * A tenth of the limit may come at once: enough for six lists to start together, and 9 requests in 10 stay evenly paced.
 */
export function bucketOf({ requests, perSeconds }: BudgetLimits): { priceMs: number; burstMs: number } {
  const burst = Math.max(1, Math.ceil(requests / 10));
  const priceMs = (perSeconds * 1_000) / (requests - burst + 1);
  return { priceMs, burstMs: burst * priceMs };
}
