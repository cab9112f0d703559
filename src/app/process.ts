/** The service as a process runs it: configuration, log, Redis, the roles, until it is told to stop. */
import { homedir } from 'node:os';
import { openChangefeed, type Changefeed, type Role } from './changefeed.js';
import { digestFiles, keepUpWithConfig, type FileDigests } from './reload.js';
import { loadConfig, type LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { ChangefeedError, exitCodeOf, messageOf } from '../errors.js';
import { createLog, parseLogLevel } from '../observability/log.js';
import { sayOnce } from '../observability/say-once.js';
import type { Log } from '../runtime/log.js';
import { stateDirOf } from '../runtime/state-dir.js';

export interface ServiceWorld {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** A person is watching standard error: the log is made for reading. */
  interactive: boolean;
}

export interface OpenedService {
  feed: Changefeed;
  config: Config;
  log: Log;
  /** The files the configuration was read from, and what was in them. */
  files: FileDigests;
  /** Reads it anew, from the same file. */
  reread: () => Promise<LoadedConfig>;
}

export interface OpenOptions {
  /** The configuration file. */
  path?: string | undefined;
  /**
   * For a command that a person waits for: a log for reading, nothing below warnings and each kind of trouble once
   * (LOG_LEVEL asks for more), and an API that does not answer is given up sooner. @defaultValue false
   */
  quiet?: boolean;
}

/** Tries per page while somebody waits: about 6 s of an API that does not answer, against a minute in the service. */
const PATIENCE_OF_A_PERSON = 5;

/** @throws ChangefeedError what `loadConfig` and `openChangefeed` throw */
export async function openService(
  world: ServiceWorld,
  { path, quiet = false }: OpenOptions = {},
): Promise<OpenedService> {
  const { cwd, env } = world;
  const { config, files } = await loadConfig({ cwd, env, path });
  const digests = await digestFiles(files);
  const baseUrl = files.length === 0 ? config.workspaces[0]?.baseUrl : undefined;
  const log = quiet ? quietLog(world) : serviceLog(world);
  const feed = await openChangefeed({
    config,
    log,
    stateDir: stateDirOf({ cwd, env, home: homedir(), baseUrl }),
    ...(quiet && { attempts: PATIENCE_OF_A_PERSON, reportsProblems: false }),
  });
  // The same file, also when another one would be found first by now, or none.
  const reread = (): Promise<LoadedConfig> => loadConfig({ cwd, env, path: files[0] ?? path });
  return { feed, config, log, files: digests, reread };
}

function serviceLog({ env, interactive }: ServiceWorld): Log {
  return createLog({
    level: parseLogLevel(env['LOG_LEVEL']),
    pretty: interactive,
    colour: colourOf({ env, interactive }),
  });
}

/** The log of a command that a person waits for. */
export function quietLog({ env, interactive }: Omit<ServiceWorld, 'cwd'>): Log {
  const asked = env['LOG_LEVEL'] ?? '';
  const level = asked === '' ? 'warn' : parseLogLevel(asked);
  const log = createLog({ level, pretty: true, colour: colourOf({ env, interactive }) });
  return asked === '' ? sayOnce(log) : log;
}

function colourOf({ env, interactive }: Omit<ServiceWorld, 'cwd'>): boolean {
  return interactive && (env['NO_COLOR'] ?? '') === '';
}

export interface RunOptions {
  roles: readonly Role[];
  /** Ends it. */
  signal: AbortSignal;
  /** Is handed what to call when somebody asks for the configuration to be read again (SIGHUP). */
  onReload: (reload: () => void) => void;
}

/**
 * Runs the roles until the signal aborts, and keeps up with the configuration meanwhile.
 * @throws ChangefeedError CF_REDIS_UNREACHABLE when the private Redis came up at another address
 */
export async function runService(
  service: OpenedService,
  { roles, signal: asked, onReload }: RunOptions,
): Promise<void> {
  const { feed, config, log } = service;
  const signal = AbortSignal.any([asked, feed.redisGone]);
  let keepingUp: Promise<void> | undefined;
  try {
    const watch = keepUpWithConfig(service, signal);
    onReload(watch.reload);
    await feed.start(roles);
    keepingUp = watch.run();
    const workspaces = config.workspaces.map(({ name }) => name);
    const subscriptions = config.subscriptions.map(({ name }) => name);
    log.info({ roles, workspaces, subscriptions, redis: feed.redisOrigin }, 'changefeed is running');
    await untilAborted(signal);
    log.info({}, 'changefeed is stopping');
  } finally {
    const stopped = Promise.all([feed.stop(), keepingUp]);
    // What does not stop without its Redis is a consequence: the error that counts is the one below.
    await (feed.redisGone.aborted ? stopped.catch(() => undefined) : stopped);
  }
  feed.redisGone.throwIfAborted();
}

/** An entry point: this process takes the roles, and ends with an exit code as the command line's. */
export async function runProcess(roles: readonly Role[]): Promise<void> {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const { env, stderr } = process;
  try {
    const service = await openService({ cwd: process.cwd(), env, interactive: stderr.isTTY });
    const onReload = (reload: () => void): void => void process.on('SIGHUP', reload);
    await runService(service, { roles, signal: stopping.signal, onReload });
  } catch (error) {
    const code = error instanceof ChangefeedError ? ` [${error.code}]` : '';
    stderr.write(`changefeed: ${messageOf(error)}${code}\n`);
    process.exitCode = exitCodeOf(error);
  }
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
