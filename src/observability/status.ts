/** The status of a Changefeed as plain data. The `status` command prints it, and the problems are found in it. */
import type { Spent } from '../api/spending.js';
import type { SubscriptionStatistics } from '../dispatch/statistics.js';
import type { ListName } from '../crm/lists/lists.js';
import type { Notice, ProblemKind } from '../events/types.js';
import type { Held } from '../sweep/store.js';
import type { ListFailure } from '../sweep/schedule.js';

export interface ListStatus {
  list: ListName;
  enabled: boolean;
  /** The shortest time from the start of one sweep to the start of the next; null: swept again as soon as a sweep has ended. */
  intervalMs: number | null;
  /**
   * How old the stored state may be: `ageMs` is the time since the last complete sweep read its first page, `sweepMs` how long that
   * sweep took. Null before the first.
   */
  freshness: { ageMs: number; sweepMs: number } | null;
  /** ISO 8601; null until the first complete sweep. */
  baselineAt: string | null;
  lastSweep: {
    completedAt: string;
    /** How long it took, ms. */
    tookMs: number;
    pages: number;
    /** Records of its longest page. */
    longestPage: number;
    /** Records seen, and records per decision. */
    counts: Readonly<Record<string, number>>;
    /** Rule → number of records whose change it muted. */
    muted: Readonly<Record<string, number>>;
  } | null;
  /** Why the last attempts failed; null when the last one was complete. */
  failure: ListFailure | null;
  /** The last failed attempt, also when later ones were complete; null when there was none. */
  lastError: Pick<ListFailure, 'code' | 'message' | 'at'> | null;
  /** ISO 8601: when the list is due; null when it is disabled. */
  dueAt: string | null;
  /** The list has been due for longer than the start of a sweep may take, and no process sweeps it. */
  late: boolean;
  /**
   * The list has been silent for much longer than usual; null when it has not. `unchanged`: no change for far longer than its longest
   * pause. `empty`: it had records and now shows none. `since` is ISO 8601.
   */
  silence: { kind: 'unchanged' | 'empty'; since: string; longestPauseMs: number } | null;
  /** Records that the last complete sweep could not read and left as they were; the first few. */
  unreadable: readonly { id: string | null; page: number; reason: string }[];
  /** What the last complete sweep held back until a person accepts it. */
  held: readonly Held[];
  /** What the pages that were read out of turn have shown (docs/planner.md); null while none has been read. */
  shortcuts: Readonly<Record<'last' | 'first' | 'aimed' | 'open', ShortcutStatus>> | null;
  /** The sweep under way or interrupted; null when there is none. */
  sweeping: { startedAt: string; pages: number; records: number; running: boolean } | null;
  /** Number of stored records. */
  records: number;
}

export interface ShortcutStatus {
  /** Pages read. */
  used: number;
  /** Of these: pages that showed a change before a walk did. */
  useful: number;
  /** Pages that did not show what was expected. */
  wrong: number;
}

/** Something that needs attention. */
export interface Problem extends Notice {
  readonly kind: ProblemKind;
  /** `list:people`, `subscription:ops`, `role:poll`, `loop:…` or `workspace`. */
  readonly subject: string;
  /** Null when the problem concerns all workspaces. */
  readonly workspace: string | null;
}

/** What would make the lists fresher, as data: each screen has its own words for it. */
export type Advice =
  | { do: 'raise-budget'; requests: number; limit: number; perSeconds: number }
  | { do: 'slow-list'; list: string; share: number }
  | { do: 'disable-lists' }
  | { do: 'check-other-client'; allowed: number; requests: number; perSeconds: number }
  | { do: 'lower-interval'; list: string; ms: number };

export interface WorkspaceStatus {
  name: string;
  /** ISO 8601: when its state in Redis was created, and when the loss of an earlier state was noticed; null when that never happened. */
  stateSince: string | null;
  stateLostAt: string | null;
  /** The last time that Redis went back to an earlier state: what was written in this time may be gone; null when that never happened. */
  stateRewound: { from: string; to: string } | null;
  /** Events in the log. */
  logLength: number;
  budget: {
    requests: number;
    perSeconds: number;
    /** Time until requests are sent again after a 429, ms; 0 when there is no wait. */
    pausedMs: number;
    /** Requests in any `perSeconds` that are allowed now: fewer than `requests` after a 429. */
    allowed: number;
    /** What all processes used in the last minute: `share` of what was configured, and the requests by list and kind, most first. */
    lastMinute: { requests: number; share: number; spent: readonly Spent[] };
  };
  /** What in the configuration would make the lists fresher; empty when nothing would. */
  advice: readonly Advice[];
  lists: ListStatus[];
}

/** A workspace as Redis shows it, without what its processes report. */
export type StoredWorkspace = Omit<WorkspaceStatus, 'budget' | 'advice'> & {
  budget: Omit<WorkspaceStatus['budget'], 'lastMinute'>;
};

export type { SubscriptionStatistics as SubscriptionStatus };

export interface RedisStatus {
  /** `maxmemory-policy`; null when reading it is not permitted. */
  evictionPolicy: string | null;
  /** Redis may evict keys and the configuration does not allow it: polling and delivery pause. */
  mayEvict: boolean;
  /** Why Redis refuses writes; null when it accepts them. */
  refuses: 'out of memory' | 'read-only' | null;
}

/** A process as it reports itself. */
export interface ProcessStatus {
  /** Random per process. */
  id: string;
  /** Of the package; null when another release reports no version. */
  version: string | null;
  pid: number;
  host: string;
  /** ISO 8601. */
  startedAt: string;
  roles: readonly string[];
  /** Workspaces of its configuration. */
  workspaces: readonly string[];
  /** Loops that have made no progress for too long. `since` is ISO 8601. */
  stalled: readonly { loop: string; since: string }[];
  /** Loops whose last turn failed. `since` and `at` are ISO 8601: the first and the last failure in a row. */
  failing: readonly { loop: string; since: string; at: string; error: string }[];
  /** What its requests of the last minute were for. */
  spent: readonly (Spent & { workspace: string })[];
}

export interface Status {
  /** ISO 8601. */
  at: string;
  redis: RedisStatus;
  workspaces: WorkspaceStatus[];
  subscriptions: SubscriptionStatistics[];
  /** Processes that run roles. */
  processes: ProcessStatus[];
  /** The worst first; empty when all is well. */
  problems: Problem[];
}
