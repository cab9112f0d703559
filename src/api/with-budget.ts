/** The layer that takes each try from the workspace's shared budget, and pauses the budget after a 429. */
import { ChangefeedError } from '../errors.js';
import type { Budget } from './budget.js';
import type { Clock } from '../runtime/clock.js';
import type { Layer } from './layers.js';
import { failedTry, requiredWaitMs } from './wait.js';

export function withBudget(budget: Budget, clock: Clock): Layer {
  return (next) => async (request) => {
    const askedAtMs = clock.now();
    await budget.take(request);
    try {
      return await next({ ...request, waitedMs: clock.now() - askedAtMs });
    } catch (error) {
      if (error instanceof ChangefeedError && error.code === 'CF_RATE_LIMITED') {
        await budget.pause(requiredWaitMs(failedTry(error, request.attempt)) ?? 0);
      }
      throw error;
    }
  };
}
