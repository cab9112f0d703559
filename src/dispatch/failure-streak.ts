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
  #ended = 0;
  #sinceMs = 0;
  #code: string | undefined;

  constructor(options: FailureStreakOptions) {
    this.#options = options;
  }

  /** How many streaks have ended. An attempt keeps the number from its beginning and gives it to `failed`. */
  get ended(): number {
    return this.#ended;
  }

  /**
   * @param facts for the log; a `code` that differs from the last one is logged again
   * @param endedBefore `ended` when the attempt began. An attempt that began in a streak that has ended since says nothing new: the
   *   endpoint was away when it was tried.
   */
  failed(facts: object & { code: string | undefined }, message: string, endedBefore: number): void {
    const { logger, clock } = this.#options;
    if (endedBefore !== this.#ended) {
      logger.debug(facts, message);
      return;
    }
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
    this.#ended += 1;
    const { subscription, logger, clock } = this.#options;
    const facts = { subscription: subscription.name, failures, failedMs: clock.now() - this.#sinceMs };
    // A single failure was a retry, not an outage.
    logger[failures > 1 ? 'info' : 'debug'](facts, 'handler succeeds again');
  }
}
