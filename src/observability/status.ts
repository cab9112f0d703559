/** What there is to know about a running Changefeed, as plain data: the CLI, the page and the health check read this one. */
import type { SubscriptionStatistics } from '../dispatch/dispatcher.js';
import type { ListName } from '../events/lists.js';
import type { Notice, NoticeKind } from '../events/types.js';
import type { ListFailure } from '../sweep/schedule.js';
import type { ProcessStatus } from './presence.js';

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
  /** Why the last attempts failed; null when the last one was complete. */
  failure: ListFailure | null;
  /** ISO 8601: when the list is due; null where it is disabled. */
  dueAt: string | null;
  /** Due for longer than a sweep's start may take, and no process sweeps it. */
  late: boolean;
  /**
   * Why the list's quiet looks wrong, null when it does not. `unchanged`: nothing changed for far longer than it is used
   * to. `empty`: it had records and shows none. `since` is ISO 8601; the longest pause it used to make is in ms.
   */
  silence: { kind: 'unchanged' | 'empty'; since: string; longestPauseMs: number } | null;
  /** Removals that wait for a person; null when there are none. */
  heldRemovals: { count: number; of: number; since: string } | null;
  /**
   * New records that wait for a person, of how many seen; null when there are none. `known`: of the records known before, how
   * many were seen again; `replaced`: hardly any.
   */
  heldCreations: {
    count: number;
    of: number;
    since: string;
    known: { seen: number; of: number };
    replaced: boolean;
  } | null;
  /** The sweep under way or interrupted; null when there is none. */
  sweeping: { startedAt: string; pages: number; records: number; running: boolean } | null;
  /** Records remembered. */
  records: number;
}

/** Something that needs attention. */
export interface Problem extends Notice {
  readonly kind: NoticeKind;
  /** `list:people`, `subscription:ops`, `role:poll`, `loop:…` or `workspace`. */
  readonly subject: string;
  /** Null where it concerns all of them. */
  readonly workspace: string | null;
}

export interface WorkspaceStatus {
  name: string;
  /** ISO 8601: since when its state exists in Redis, and when the loss of an earlier state was noticed; null when there was none. */
  stateSince: string | null;
  stateLostAt: string | null;
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

export interface RedisStatus {
  /** `maxmemory-policy`; null where it may not be read. */
  evictionPolicy: string | null;
  /** Keys may be evicted although the configuration does not allow it: polling and delivery pause. */
  mayEvict: boolean;
  /** Why Redis refuses writes; null when it takes them. */
  refuses: 'out of memory' | 'read-only' | null;
}

export interface Status {
  /** ISO 8601. */
  at: string;
  redis: RedisStatus;
  workspaces: WorkspaceStatus[];
  subscriptions: SubscriptionStatistics[];
  /** Processes that run roles. */
  processes: ProcessStatus[];
  /** What needs attention, the worst first; empty when all is well. */
  problems: Problem[];
}
