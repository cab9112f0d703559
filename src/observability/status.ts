/** What there is to know about a running Changefeed, as plain data: the CLI, the page and the health check read this one. */
import type { SubscriptionStatistics } from '../dispatch/dispatcher.js';
import type { ListName } from '../events/lists.js';

export interface ListStatus {
  list: ListName;
  enabled: boolean;
  intervalMs: number;
  /** ISO 8601; null until the first complete sweep. */
  baselineAt: string | null;
  lastSweep: {
    completedAt: string;
    /** How long it took, ms. */
    tookMs: number;
    pages: number;
    /** How many records were seen, and what became of them. */
    counts: Readonly<Record<string, number>>;
    /** Rule → records it kept quiet. */
    muted: Readonly<Record<string, number>>;
  } | null;
  /**
   * Why the list's quiet looks wrong, null when it does not. `unchanged`: nothing changed for far longer than it is used
   * to. `empty`: it had records and shows none. `since` is ISO 8601; the longest pause it used to make is in ms.
   */
  silence: { kind: 'unchanged' | 'empty'; since: string; longestPauseMs: number } | null;
  /** Removals that wait for a person; null when there are none. */
  heldRemovals: { count: number; of: number; since: string } | null;
  /** The sweep under way or interrupted; null when there is none. */
  sweeping: { startedAt: string; pages: number; records: number; running: boolean } | null;
  /** Records remembered. */
  records: number;
}

export interface WorkspaceStatus {
  name: string;
  /** Events in the log. */
  logLength: number;
  budget: {
    requests: number;
    perSeconds: number;
    /** Ms until requests go out again after a 429; 0 when they do. */
    pausedMs: number;
  };
  lists: ListStatus[];
}

export type { SubscriptionStatistics as SubscriptionStatus };

export interface Status {
  /** ISO 8601. */
  at: string;
  workspaces: WorkspaceStatus[];
  subscriptions: SubscriptionStatistics[];
}
