/** The options of a sandbox. */
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { Behaviour } from './faults/behaviour.js';
import type { SandboxSizes } from './sizes.js';

export interface SandboxOptions extends SandboxSizes {
  /** The same seed gives the same records and the same mutations. @defaultValue 1 */
  seed?: number;
  /** @defaultValue 'sandbox' */
  token?: string;
  /** 0 takes any free port. @defaultValue 0 */
  port?: number;
  /** @defaultValue '127.0.0.1' */
  host?: string;
  /** Mutations per second; 0 for none. @defaultValue 0 */
  rate?: number;
  /** A name from PROFILES: a combination of faults, or a single fault. @defaultValue 'calm' */
  profile?: string;
  /** Names from FAULTS, in addition to the profile. @defaultValue none */
  faults?: readonly string[];
  /** Records per page. @defaultValue 50 */
  pageSize?: number;
  /** Null for no limit. @defaultValue 100 requests in 10 s */
  limit?: { requests: number; perMs: number } | null;
  /** Delay before every answer; ms. @defaultValue 0 */
  latencyMs?: number;
  /** Single switches; they override profile and faults. @defaultValue none */
  behaviour?: Partial<Behaviour>;
  /** Path of a file to write the journal to, as NDJSON. An existing file is overwritten. @defaultValue none */
  journal?: string;
  /** Lines of the journal kept in memory; the oldest are dropped first. @defaultValue 10000 */
  journalKeep?: number;
  /** Size of the page cache in bytes. @defaultValue 268435456 (256 MiB) */
  cacheBytes?: number;
  /** Starts a control API. Default port: any free one; default token: 'control'. @defaultValue no control API */
  control?: { port?: number; host?: string; token?: string };
  clock?: Clock;
  log?: Log;
}

/** The switches that the options set, apart from profile and faults. */
export function givenBehaviour({ pageSize, limit, latencyMs, behaviour }: SandboxOptions): Partial<Behaviour> {
  return {
    ...(pageSize !== undefined && { pageSize }),
    ...(limit === null && { limitRequests: 0 }),
    ...(limit !== null && limit !== undefined && { limitRequests: limit.requests, limitWindowMs: limit.perMs }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...behaviour,
  };
}
