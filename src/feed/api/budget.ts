/** The request budget of a workspace, which its processes share in Redis. */
import type { ListName } from '../../crm/lists/lists.js';

/** How many requests a workspace may make: at most `requests` in any window of `perSeconds`. */
export interface BudgetLimits {
  /** At most this many in any `perSeconds`. */
  requests: number;
  /** The length of the window. */
  perSeconds: number;
}

/**
 * The purpose of a request. `walk`: the next page of a sweep. `tail`: the growing end of a list. `aimed`: a page that holds a record
 * that is said to have changed.
 */
export type RequestKind = 'walk' | 'tail' | 'aimed';

/** A request for the budget; its kind and value decide its turn. */
export interface BudgetRequest {
  list: ListName;
  /** Whether the walk asks, or a shortcut. */
  kind: RequestKind;
  /** The changes that a tail or an aimed fetch is expected to show. The most valuable one is sent first. @defaultValue 0 */
  value?: ((nowMs: number) => number) | undefined;
  signal?: AbortSignal | undefined;
}

/** The request budget that all processes of a workspace share. */
export interface Budget {
  /** Waits until one request is allowed, or rejects with the signal's reason. */
  take(request: BudgetRequest): Promise<void>;
  /** After a 429: no process of the workspace may send a request for `ms`. A longer pause that is already set stays. */
  pause(ms: number): Promise<void>;
}

/** The cost and the yield of a list's walks; they decide its part of the requests. */
export interface WalkLoad {
  /** Requests of one complete sweep. */
  pages: number;
  /** Changes that only its walks find; null while no sweep has shown it. */
  changesPerSecond: number | null;
  /** Its ends are read all the time, and its walks find little. */
  isBackground?: boolean;
}

/** The last 429, as all processes of the workspace know it. */
export interface Refusal {
  /** Differs from that of every other refusal. */
  id: string;
  /** Requests that were accepted in the window before it. */
  level: number;
  agoMs: number;
}

export interface WindowAsk {
  /** Requests that wait. */
  wanted: number;
  /** Most requests in any window. */
  allowed: number;
  /** Most requests at once; the others are spaced evenly. */
  burst: number;
  /** The length of the window, with its margin. */
  windowMs: number;
  /** The last refusal that `allowed` takes into account; null when there was none. */
  refusal: string | null;
}

export type WindowAnswer =
  /** So many requests may be sent now, the next one in `waitMs`. */
  | { outcome: 'granted'; requests: number; waitMs: number }
  /** Nothing is granted: another refusal is the last one, or (null) it is forgotten. */
  | { outcome: 'other refusal'; refusal: Refusal | null };

/** The sliding window of granted requests that all processes of a workspace share. `state` implements it in Redis. */
export interface BudgetWindow {
  take(ask: WindowAsk): Promise<WindowAnswer>;
  /** After a 429: records the refusal, and nothing is granted for `pauseMs`. A refusal of the last `recentMs` counts for the level too. */
  refused(refusal: { pauseMs: number; recentMs: number }): Promise<void>;
}
