/** A budget of this process alone: without Redis, and without knowing other clients of the workspace. */
import { systemClock, type Clock } from '../../kit/clock.js';
import type { Budget, BudgetLimits } from './budget.js';

/** Less than the 100 requests in 10 s that the API is known to allow. */
const DEFAULT_LIMITS: BudgetLimits = { requests: 80, perSeconds: 10 };

/** Requests are spaced evenly. @param limits `{ requests: 80, perSeconds: 10 }` if left out */
export function createLocalBudget(limits: BudgetLimits = DEFAULT_LIMITS, clock: Clock = systemClock): Budget {
  const stepMs = (limits.perSeconds * 1_000) / limits.requests;
  let nextMs = 0;
  let pausedUntilMs = 0;
  return {
    async take({ signal }) {
      let atMs = Math.max(clock.monotonic(), nextMs, pausedUntilMs);
      nextMs = atMs + stepMs;
      for (let nowMs = clock.monotonic(); nowMs < atMs; nowMs = clock.monotonic()) {
        await clock.sleep(atMs - nowMs, signal);
        atMs = Math.max(atMs, pausedUntilMs);
      }
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonic() + ms);
      return Promise.resolve();
    },
  };
}
