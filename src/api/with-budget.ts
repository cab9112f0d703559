/** The layer that takes each try from the workspace's shared budget, and pauses the budget after a 429. */
import { ChangefeedError } from '../errors.js';
import type { Budget } from './budget.js';
import type { Layer } from './layers.js';
import { failedTry, requiredWaitMs } from './wait.js';

export function withBudget(budget: Budget): Layer {
  return (next) => async (request) => {
    await budget.take(request);
    try {
      return await next(request);
    } catch (error) {
      if (error instanceof ChangefeedError && error.code === 'CF_RATE_LIMITED') {
        await budget.pause(requiredWaitMs(failedTry(error, request.attempt)) ?? 0);
      }
      throw error;
    } finally {
      budget.answered?.(request);
    }
  };
}
