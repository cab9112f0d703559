/** The service as a process runs it: configuration, log, Redis, the roles, until it is told to stop. */
import { homedir } from 'node:os';
import { openChangefeed, type Changefeed, type Role } from './app.js';
import { loadConfig } from './config/load.js';
import type { Config } from './config/schema.js';
import { exitCodeOf, messageOf } from './errors.js';
import { createLog, parseLogLevel } from './observability/log.js';
import type { Log } from './runtime/log.js';
import { stateDirOf } from './runtime/state-dir.js';

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
}

/** @param quiet nothing below warnings is logged unless LOG_LEVEL asks for it: for commands a person looks at */
export async function openService(
  { cwd, env, interactive }: ServiceWorld,
  { path, quiet = false }: { path?: string | undefined; quiet?: boolean } = {},
): Promise<OpenedService> {
  const { config } = await loadConfig({ cwd, env, path });
  const level = quiet && env['LOG_LEVEL'] === undefined ? 'warn' : parseLogLevel(env['LOG_LEVEL']);
  const log = createLog({ level, pretty: interactive });
  const feed = await openChangefeed({ config, log, stateDir: stateDirOf({ cwd, env, home: homedir() }) });
  return { feed, config, log };
}

/** Runs the roles until the signal aborts. */
export async function runService(
  { feed, config, log }: OpenedService,
  { roles, signal }: { roles: readonly Role[]; signal: AbortSignal },
): Promise<void> {
  try {
    await feed.start(roles);
    const workspaces = config.workspaces.map(({ name }) => name);
    const subscriptions = config.subscriptions.map(({ name }) => name);
    log.info({ roles, workspaces, subscriptions, redis: feed.redisOrigin }, 'changefeed is running');
    await untilAborted(signal);
    log.info({}, 'changefeed is stopping');
  } finally {
    await feed.stop();
  }
}

/** An entry point: this process takes the roles, and ends with an exit code as the command line's. */
export async function runProcess(roles: readonly Role[]): Promise<void> {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const { env, stderr } = process;
  try {
    const service = await openService({ cwd: process.cwd(), env, interactive: stderr.isTTY });
    await runService(service, { roles, signal: stopping.signal });
  } catch (error) {
    stderr.write(`changefeed: ${messageOf(error)}\n`);
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
