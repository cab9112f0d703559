/** The service as a process runs it: reads the configuration, opens the log and the Changefeed, and runs roles until it is stopped. */
import { once } from 'node:events';
import { homedir } from 'node:os';
import { loadConfig, type LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { createLog, parseLogLevel } from '../observability/log.js';
import { logOnce } from '../observability/log-once.js';
import type { Log } from '../runtime/log.js';
import { openChangefeed, type Changefeed, type Role } from './changefeed.js';
import { digestFiles, watchConfig, type FileDigests } from './watch-config.js';
import { stateDirOf } from './state-dir.js';

/** What a log depends on. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** Standard error is a terminal: log lines are formatted for reading. */
  interactive: boolean;
}

export interface ServiceWorld extends Terminal {
  cwd: string;
}

export interface OpenedService {
  feed: Changefeed;
  config: Config;
  log: Log;
  /** The files the configuration was read from, with their digests. */
  files: FileDigests;
  /** Reads the configuration again, from the same file. */
  reread: () => Promise<LoadedConfig>;
}

export interface OpenOptions {
  /** The configuration file. */
  path?: string | undefined;
  /**
   * For a command that a person waits for: readable log lines, only warnings and errors, each kind once (LOG_LEVEL overrides this),
   * and fewer tries when the API does not answer. @defaultValue false
   */
  quiet?: boolean;
  /** Called with the configuration before Redis is opened; what it throws ends the command. */
  check?: (config: Config) => void;
}

/** Tries per page while a person waits: about 6 s without an answer. The service tries for about a minute. */
const INTERACTIVE_ATTEMPTS = 5;

/** @throws ChangefeedError what `loadConfig` and `openChangefeed` throw */
export async function openService(
  world: ServiceWorld,
  { path, quiet = false, check = () => undefined }: OpenOptions = {},
): Promise<OpenedService> {
  const { cwd, env } = world;
  const { config, files } = await loadConfig({ cwd, env, path });
  check(config);
  const digests = await digestFiles(files);
  const baseUrl = files.length === 0 ? config.workspaces[0]?.baseUrl : undefined;
  const log = quiet ? quietLog(world) : serviceLog(world);
  const feed = await openChangefeed({
    config,
    log,
    stateDir: stateDirOf({ cwd, env, home: homedir(), baseUrl }),
    http: !quiet,
    ...(quiet && { attempts: INTERACTIVE_ATTEMPTS, reportsProblems: false }),
  });
  // By its path: a search could now find another file, or none.
  const reread = (): Promise<LoadedConfig> => loadConfig({ cwd, env, path: files[0] ?? path });
  return { feed, config, log, files: digests, reread };
}

function serviceLog(terminal: Terminal): Log {
  const { env, interactive } = terminal;
  return createLog({ level: parseLogLevel(env['LOG_LEVEL']), pretty: interactive, colour: hasColour(terminal) });
}

/** The log of a command that a person waits for. */
export function quietLog(terminal: Terminal): Log {
  const requested = terminal.env['LOG_LEVEL'] ?? '';
  const level = requested === '' ? 'warn' : parseLogLevel(requested);
  const log = createLog({ level, pretty: true, colour: hasColour(terminal) });
  return requested === '' ? logOnce(log) : log;
}

function hasColour({ env, interactive }: Terminal): boolean {
  return interactive && (env['NO_COLOR'] ?? '') === '';
}

export interface RunOptions {
  roles: readonly Role[];
  /** Stops the service. */
  signal: AbortSignal;
  /** Receives the function that reads and applies the configuration again (for SIGHUP). */
  onReload: (reload: () => void) => void;
}

/**
 * Runs the roles until the signal aborts, and applies changes of the configuration meanwhile.
 * @throws ChangefeedError CF_REDIS_UNREACHABLE when the private Redis had to be restarted at another address
 */
export async function runService(service: OpenedService, { roles, signal, onReload }: RunOptions): Promise<void> {
  const { feed, config, log, files, reread } = service;
  const stopping = AbortSignal.any([signal, feed.redisGone]);
  const reload = (next: Config) => feed.reload(next);
  const watch = watchConfig({ reload, reread, files, log }, stopping);
  let watching: Promise<void> | undefined;
  try {
    onReload(watch.reload);
    await feed.start(roles);
    watching = watch.run();
    const workspaces = config.workspaces.map(({ name }) => name);
    const subscriptions = config.subscriptions.map(({ name }) => name);
    log.info({ roles, workspaces, subscriptions, redis: feed.redisOrigin }, 'changefeed is running');
    await untilAborted(stopping);
    log.info({}, 'changefeed is stopping');
  } finally {
    const stopped = Promise.all([feed.stop(), watching]);
    // Without its Redis, a failure to stop is a consequence. The cause is thrown below.
    await (feed.redisGone.aborted ? stopped.catch(() => undefined) : stopped);
  }
  feed.redisGone.throwIfAborted();
}

/** Resolves when the signal aborts. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
