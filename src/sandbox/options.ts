/** What can be asked of a sandbox when it is made. */
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { Behaviour } from './faults/behaviour.js';
import type { SandboxSizes } from './sizes.js';

export interface SandboxOptions extends SandboxSizes {
  /** The same seed gives the same world and the same life. @defaultValue 1 */
  seed?: number;
  /** @defaultValue 'sandbox' */
  token?: string;
  /** 0 takes any free port. @defaultValue 0 */
  port?: number;
  /** @defaultValue '127.0.0.1' */
  host?: string;
  /** Mutations per second; 0 stands still. @defaultValue 0 */
  rate?: number;
  /** A name from PROFILES: a combination, or a single fault. @defaultValue 'calm' */
  profile?: string;
  /** Names from FAULTS, on top of the profile. @defaultValue none */
  faults?: readonly string[];
  /** Records per page. @defaultValue 50 */
  pageSize?: number;
  /** Null is no limit. @defaultValue 100 requests in 10 s */
  limit?: { requests: number; perMs: number } | null;
  /** Wait before every answer; ms. @defaultValue 0 */
  latencyMs?: number;
  /** Any further switch; goes over profile and faults. @defaultValue none */
  behaviour?: Partial<Behaviour>;
  /** Path of a file that gets the journal as NDJSON; started anew. @defaultValue none */
  journal?: string;
  /** Lines of the journal kept in memory; the oldest go first. @defaultValue 10000 */
  journalKeep?: number;
  /** Bytes of serialised pages kept. @defaultValue 268435456 (256 MiB) */
  cacheBytes?: number;
  /** The control API; left out, there is none. Its port is any free one by default, its token 'control'. */
  control?: { port?: number; host?: string; token?: string };
  clock?: Clock;
  log?: Log;
}

/** What options say of behaviour, apart from profile and faults. */
export function givenBehaviour({ pageSize, limit, latencyMs, behaviour }: SandboxOptions): Partial<Behaviour> {
  return {
    ...(pageSize !== undefined && { pageSize }),
    ...(limit === null && { limitRequests: 0 }),
    ...(limit !== null && limit !== undefined && { limitRequests: limit.requests, limitWindowMs: limit.perMs }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...behaviour,
  };
}
