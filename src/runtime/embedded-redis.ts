/** Which Redis a process uses: the one that was named, else one of its own. */
import { ChangefeedError, messageOf } from '../errors.js';
import { systemClock } from './clock.js';
import type { Log } from './log.js';
import { findRedisBinary, readOsRelease, redisInstallLine } from './redis-binary.js';
import { dockerLauncher } from './redis-docker.js';
import { openRedisHome, type RedisLauncher } from './redis-home.js';
import { checkRedis } from './redis-probe.js';
import { startRedisServer } from './redis-server.js';

export interface OpenRedisOptions {
  /** A Redis that was named (`REDIS_URL` or the configuration). Only such a one may belong to somebody else. */
  url?: string | undefined;
  /** Where a Redis of our own keeps its data (`redis/`) and its address (`redis.json`). */
  stateDir: string;
  log: Log;
  /** Where to look for redis-server and valkey-server. @defaultValue the PATH of the process */
  searchPath?: string | undefined;
  /** What to try where no program is found. @defaultValue Docker */
  container?: RedisLauncher;
}

export interface OpenedRedis {
  readonly url: string;
  /** `named` by the user, a `private` process, or a `docker` container. */
  readonly origin: 'named' | 'private' | 'docker';
  /** Aborts with an error when a private Redis had to come up at another address; never for a named one. */
  readonly gone: AbortSignal;
  /** Stops a private Redis that no other living process uses; a named one is left alone. May be called twice. */
  close(): Promise<void>;
}

/**
 * In this order: the Redis that was named; redis-server or valkey-server from the search path, private to this state
 * directory (started, or joined where it runs); the same in Docker.
 * @throws ChangefeedError CF_REDIS_UNREACHABLE when the named one does not let us in, CF_REDIS_MISSING when none could be
 *   started, with the line that installs one, CF_CONFIG_INVALID when the URL is none
 */
export async function openRedis(options: OpenRedisOptions): Promise<OpenedRedis> {
  const { url, stateDir, log, searchPath = process.env['PATH'], container = dockerLauncher } = options;
  if (url !== undefined) {
    await checkRedis(url);
    return { url, origin: 'named', gone: new AbortController().signal, close: () => Promise.resolve() };
  }
  const binary = findRedisBinary(searchPath);
  const startedAt = systemClock.now();
  const home =
    binary === undefined
      ? await openRedisHome({ stateDir, log, launcher: container }).catch((error: unknown) => {
          throw missing(error);
        })
      : await openRedisHome({ stateDir, log, launcher: processLauncher(binary) });
  const { origin, role } = home;
  log.info({ origin, role, stateDir, ms: systemClock.now() - startedAt }, 'Redis is ready');
  return home;
}

function processLauncher(binary: string): RedisLauncher {
  return { origin: 'private', launch: async (options) => (await startRedisServer({ binary, ...options })).pid };
}

function missing(cause: unknown): ChangefeedError {
  if (cause instanceof ChangefeedError) return cause;
  return new ChangefeedError('CF_REDIS_MISSING', {
    message:
      `No Redis was named with REDIS_URL, neither redis-server nor valkey-server is on the PATH, and Docker could not ` +
      `start one (${messageOf(cause)}). Install Redis: ${redisInstallLine(process.platform, readOsRelease())}`,
    cause,
  });
}
