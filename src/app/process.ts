/** The service as a process runs it: reads the configuration, opens the log and the Changefeed, and runs roles until it is stopped. */
import { once } from 'node:events';
import { homedir } from 'node:os';
import { loadConfig, type LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { createLog, logOnce, parseLogLevel, type LogOptions } from '../observability/log.js';
import { filtered, type Log } from '../runtime/log.js';
import { isAboutSweeps, openWithBudgets, type OpenedChangefeed, type Role } from './changefeed.js';
import { digestFiles, watchConfig, type FileDigests } from './watch-config.js';
import { stateDirOf } from './state-dir.js';

/** What a log depends on. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** Standard error is a terminal: log lines are formatted for reading. */
  interactive: boolean;
  /** Writes text to it; lines that are too wide are continued between words. @defaultValue standard error, as it is */
  err?: (text: string) => void;
}

export interface ServiceWorld extends Terminal {
  cwd: string;
}

export interface OpenedService extends OpenedChangefeed {
  config: Config;
  log: Log;
  /** The files the configuration was read from, with their digests. */
  files: FileDigests;
  /** Reads the configuration again, from the same file. */
  reread: () => Promise<LoadedConfig>;
}

export interface OpenOptions {
  path?: string | undefined;
  /**
   * For a command that a person waits for: readable log lines, only warnings and errors, each kind once (LOG_LEVEL overrides this),
   * and fewer tries when the API does not answer. @defaultValue false
   */
  quiet?: boolean;
  /**
   * Standard output is a terminal on which events are shown: the log leaves out complete sweeps, unless LOG_LEVEL is set.
   * @defaultValue false
   */
  showsEvents?: boolean;
  /** Changes the configuration each time it is read. */
  adapt?: (config: Config) => Config;
  /** Ends the wait for a Redis that does not answer. */
  signal?: AbortSignal | undefined;
  /** Called with the configuration before Redis is opened; what it throws ends the command. */
  check?: (config: Config) => void;
}

/** Tries per page while a person waits: about 6 s without an answer. The service tries for about a minute. */
const INTERACTIVE_ATTEMPTS = 5;

/** @throws ChangefeedError what `loadConfig` and `openChangefeed` throw; the signal's reason when aborted */
export async function openService(
  world: ServiceWorld,
  {
    path,
    quiet = false,
    showsEvents = false,
    adapt = (config) => config,
    signal,
    check = () => undefined,
  }: OpenOptions = {},
): Promise<OpenedService> {
  const { cwd, env } = world;
  const read = async (file: string | undefined): Promise<LoadedConfig> => {
    const loaded = await loadConfig({ cwd, env, path: file });
    return { ...loaded, config: adapt(loaded.config) };
  };
  const { config, files } = await read(path);
  check(config);
  const digests = await digestFiles(files);
  const baseUrl = files.length === 0 ? config.workspaces[0]?.baseUrl : undefined;
  const log = quiet ? quietLog(world) : serviceLog(world, { showsEvents });
  const opened = await openWithBudgets({
    config,
    log,
    stateDir: stateDirOf({ cwd, env, home: homedir(), baseUrl }),
    http: !quiet,
    signal,
    ...(quiet && { attempts: INTERACTIVE_ATTEMPTS, reportsProblems: false }),
  });
  // By its path: a search could now find another file, or none.
  const reread = (): Promise<LoadedConfig> => read(files[0] ?? path);
  return { ...opened, config, log, files: digests, reread };
}

function serviceLog(terminal: Terminal, { showsEvents }: { showsEvents: boolean }): Log {
  const { env, interactive } = terminal;
  const log = createLog({ level: parseLogLevel(env['LOG_LEVEL']), pretty: interactive, ...lookOf(terminal) });
  return showsEvents && (env['LOG_LEVEL'] ?? '') === '' ? withoutSweeps(log) : log;
}

/** Complete sweeps would push the events off the screen. */
function withoutSweeps(log: Log): Log {
  const filter = filtered(log, (level, _facts, message) => (level === 'info' && isAboutSweeps(message) ? null : level));
  // A subscription's own lines are its handler's.
  return { ...filter, child: (facts) => log.child(facts) };
}

export function quietLog(terminal: Terminal): Log {
  const requested = terminal.env['LOG_LEVEL'] ?? '';
  const level = requested === '' ? 'warn' : parseLogLevel(requested);
  const log = createLog({ level, pretty: true, ...lookOf(terminal) });
  return requested === '' ? logOnce(log) : log;
}

function lookOf({ env, interactive, err }: Terminal): Pick<LogOptions, 'colour' | 'destination'> {
  if (!interactive) return {};
  return {
    colour: (env['NO_COLOR'] ?? '') === '',
    ...(err && { destination: { write: (line) => err(line.trimEnd()) } }),
  };
}

export interface RunOptions {
  roles: readonly Role[];
  signal: AbortSignal;
  /** Receives the function that reads and applies the configuration again (for SIGHUP). */
  onReload: (reload: () => void) => void;
  /** Called when the roles run. Its promise is awaited when they have stopped. */
  onRunning?: (signal: AbortSignal) => Promise<void>;
}

/** Runs the roles until the signal aborts, and applies changes of the configuration meanwhile. */
export async function runService(
  service: OpenedService,
  { roles, signal, onReload, onRunning }: RunOptions,
): Promise<void> {
  const { feed, config, log, files, reread } = service;
  const reload = (next: Config) => feed.reload(next);
  const watch = watchConfig({ reload, reread, files, log }, signal);
  let watching: Promise<unknown> | undefined;
  try {
    onReload(watch.reload);
    await feed.start(roles);
    watching = Promise.all([watch.run(), onRunning?.(signal)]);
    const workspaces = config.workspaces.map(({ name }) => name);
    const subscriptions = config.subscriptions.map(({ name }) => name);
    log.info({ roles, workspaces, subscriptions, redis: feed.redisOrigin }, 'changefeed is running');
    await untilAborted(signal);
    log.info({}, 'changefeed is stopping');
  } finally {
    await Promise.all([feed.stop(), watching]);
  }
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
