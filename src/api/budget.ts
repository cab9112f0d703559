/** How many requests a workspace may make: at most `requests` in any window of `perSeconds`. */
export interface BudgetLimits {
  requests: number;
  perSeconds: number;
}

/** The request budget that all processes of a workspace share. The room that knows Redis implements it. */
export interface Budget {
  /** Waits for one request's worth, or rejects with the signal's reason. */
  take(signal?: AbortSignal): Promise<void>;
  /** After a 429: nobody takes anything for `ms`. A longer pause already set stays. */
  pause(ms: number): Promise<void>;
}
