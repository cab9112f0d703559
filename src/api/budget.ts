/** How many requests a workspace may make: at most `requests` in any window of `perSeconds`. */
export interface BudgetLimits {
  requests: number;
  perSeconds: number;
}

/** The request budget that all processes of a workspace share. `state` implements it in Redis. */
export interface Budget {
  /** Waits until one request is allowed, or rejects with the signal's reason. */
  take(signal?: AbortSignal): Promise<void>;
  /** After a 429: no process of the workspace may send a request for `ms`. A longer pause that is already set stays. */
  pause(ms: number): Promise<void>;
}
