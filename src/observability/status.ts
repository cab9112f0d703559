/** What there is to know about a running Changefeed, as plain data: the CLI, the page and the health check read this one. */
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

export interface SubscriptionStatus {
  name: string;
  handler: string;
  on: readonly string[];
  waiting: number;
  active: number;
  /** Waiting for a retry or for their turn. */
  delayed: number;
  dead: number;
  paused: boolean;
  /** ISO 8601: since when; why; whether events were dropped that it had not read. Null: it is enabled. */
  disabled: { at: string; reason: string; missing: boolean } | null;
  /** ISO 8601: the first of the failures without a success since; null when there is none. */
  failingSince: string | null;
  /** Events in the log this subscription has not read yet, over all its workspaces. */
  lagEvents: number;
  /** Age of the oldest of these, in seconds; 0 without lag. */
  lagSeconds: number;
}

export interface Status {
  /** ISO 8601. */
  at: string;
  workspaces: WorkspaceStatus[];
  subscriptions: SubscriptionStatus[];
}
