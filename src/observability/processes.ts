/** The processes that run roles, as each of them reports itself: a port, implemented in Redis. */
export interface ProcessStatus {
  /** Random per process. */
  id: string;
  pid: number;
  host: string;
  /** ISO 8601. */
  startedAt: string;
  roles: readonly string[];
  /** Workspaces of its configuration. */
  workspaces: readonly string[];
  /** Loops that have given no sign of life for too long. `since` is ISO 8601. */
  stalled: readonly { loop: string; since: string }[];
}

export interface ProcessRegistry {
  /** Says that the process lives, for `ttlMs`. */
  beat(process: ProcessStatus, ttlMs: number): Promise<void>;
  leave(id: string): Promise<void>;
  /** The processes that live. */
  list(): Promise<ProcessStatus[]>;
}
