/**
 * Failed attempts of a subscription in this process since its last success. While an endpoint is away every attempt fails, so only the
 * first one is logged, and later the end.
 */
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';

export interface FailureStreakOptions {
  subscription: { name: string };
  logger: Log;
  clock: Clock;
}

export class FailureStreak {
  readonly #options: FailureStreakOptions;
  #failures = 0;
  #sinceMs = 0;
  #code: string | undefined;

  constructor(options: FailureStreakOptions) {
    this.#options = options;
  }

  /** @param code of the error: another one is logged again */
  failed(facts: object & { code: string | undefined }, message: string): void {
    const { logger, clock } = this.#options;
    const isNew = this.#failures === 0 || facts.code !== this.#code;
    if (this.#failures === 0) this.#sinceMs = clock.now();
    this.#failures += 1;
    this.#code = facts.code;
    logger[isNew ? 'warn' : 'debug'](facts, message);
  }

  succeeded(): void {
    const failures = this.#failures;
    if (failures === 0) return;
    this.#failures = 0;
    const { subscription, logger, clock } = this.#options;
    const facts = { subscription: subscription.name, failures, failedMs: clock.now() - this.#sinceMs };
    // A single failure was a retry, not an outage.
    logger[failures > 1 ? 'info' : 'debug'](facts, 'handler succeeds again');
  }
}
