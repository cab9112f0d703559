/**
 * The two ways to start a Redis on this machine: a redis-server or valkey-server process, or a Docker container. Both require
 * a password, keep their data in a given directory and evict nothing. Neither outlives the processes that use it, whatever ends them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../../errors.js';
import { withinTime } from '../../runtime/clock.js';
import { requireOptionalPackage } from '../../runtime/optional-package.js';

export interface RedisLauncher {
  readonly origin: 'private' | 'docker';
  /** Starts a Redis on the loopback address and waits until it answers. It has `users` open for reading until it has ended. */
  launch(options: LaunchOptions & { users: string }): Promise<unknown>;
}

export interface LaunchOptions {
  /** The directory of its data and its log; created if it does not exist, readable only by this user. */
  dir: string;
  password: string;
  port: number;
  /**
   * A named pipe that every process that uses the server has open for writing. When the last of them has ended, the server ends.
   * Undefined: it ends with this process.
   */
  users?: string | undefined;
  /** A folder that is removed when the server has ended because its users have. */
  temporary?: string | undefined;
}

/** A server that answers. */
export interface RedisServer {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
}

export interface RedisServerOptions extends LaunchOptions {
  /** The path of the program. */
  binary: string;
  /** Further lines of the configuration; they override the lines above them. */
  settings?: readonly string[];
}

const HOST = '127.0.0.1';
const LOG_FILE = 'redis.log';
/** Includes the time to load the data. */
const READY_WITHIN_MS = 60_000;
/** No eviction: an evicted key would be a lost record or job. No snapshots: the append-only file holds all data. */
const BASE_SETTINGS = ['appendonly yes', 'maxmemory-policy noeviction', 'save ""'];

/**
 * Starts the server ($0) in its directory ($1), prints its process id, and waits for its end. The end of file 3 means that no process uses
 * the server any more. $2 is the folder to remove then. The server has file 3 open too: as long as it is open for reading, the server runs.
 * Only this user may read what the server creates. A shell that waits costs nothing, and no signal goes to a process id that
 * may belong to another process by now.
 */
const WHILE_USED = `
umask 077
exec 4<&0
(cd "$1" && exec "$0" - <&4 4<&- >&2) &
server=$!
echo $server
exec >&- 4<&-
(
  while read -r _; do :; done <&3
  trap '' TERM
  kill $server
  [ -z "$2" ] || { while kill -0 $server; do sleep 0.1; done; rm -rf "$2"; }
) 2>/dev/null &
exec 3<&-
wait $server
kill $! 2>/dev/null
`;

/** @throws ChangefeedError CF_REDIS_MISSING if the program does not become ready */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer> {
  const { dir } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const child = spawnServer(options);
  const ended = new Promise<false>((resolve) => {
    child.once('exit', () => resolve(false));
    child.once('error', () => resolve(false));
  });
  const pid = Number(child.stdout === null ? '' : await text(child.stdout).catch(() => ''));
  if (await isReady(pid, options, ended)) return { pid, ended };
  const failure = startFailure(options, child.exitCode === null ? 'did not answer in time' : 'ended at once');
  if (child.exitCode === null && pid > 0) process.kill(pid, 'SIGKILL');
  await ended;
  throw failure;
}

function spawnServer(options: RedisServerOptions): ChildProcess {
  const { binary, dir, password, port, users, temporary = '', settings = [] } = options;
  const log = openSync(join(dir, LOG_FILE), 'w', 0o600);
  const pipe = users === undefined ? [] : [openSync(users, 'r')];
  // Detached: Ctrl-C in the terminal must not end Redis before this process, which still writes while it stops.
  const child = spawn('sh', ['-c', WHILE_USED, resolve(binary), resolve(dir), temporary && resolve(temporary)], {
    cwd: '/',
    stdio: ['pipe', 'pipe', log, pipe[0] ?? 'pipe'],
    detached: true,
  });
  for (const file of [log, ...pipe]) closeSync(file);
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  const held = child.stdio[3];
  if (held instanceof Socket) held.on('error', () => undefined).unref();
  // The configuration goes through standard input: every user of the machine could read a password on the command line.
  child.stdin?.end(
    [
      `bind ${HOST}`,
      `port ${port}`,
      'protected-mode yes',
      `requirepass ${password}`,
      'dir ./',
      'daemonize no',
      'appendfsync everysec',
      ...BASE_SETTINGS,
      ...settings,
      '',
    ].join('\n'),
  );
  child.unref();
  return child;
}

/** The client retries the connection, and waits while Redis loads its data. */
async function isReady(pid: number, { port, password }: RedisServerOptions, ended: Promise<false>): Promise<boolean> {
  const redis = new Redis({ host: HOST, port, password, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  // If another server has the port, possibly with the same password, this process is about to end.
  const answered = redis.info('server').then((info) => info.includes(`process_id:${pid}\r`) || ended);
  try {
    return (await withinTime(Promise.race([answered.catch(() => ended), ended]), READY_WITHIN_MS)) === true;
  } finally {
    redis.disconnect();
  }
}

function startFailure({ binary, dir }: RedisServerOptions, what: string): ChangefeedError {
  const last = logOf(dir).trim().split('\n').at(-1) ?? '';
  const reason = last === '' ? '' : ` The last line of its log: ${last}`;
  return new ChangefeedError('CF_REDIS_MISSING', {
    message: `"${binary}" was started in ${dir} and ${what}.${reason} Correct the cause, or set REDIS_URL to another Redis.`,
  });
}

function logOf(dir: string): string {
  try {
    return readFileSync(join(dir, LOG_FILE), 'utf8');
  } catch (error) {
    return messageOf(error);
  }
}

const IMAGE = 'redis:7-alpine';
const CONTAINER_CONFIG = '/usr/local/etc/redis/redis.conf';

/** In this time it writes its data. */
const STOP_WITHIN_MS = 10_000;

/**
 * `testcontainers` is an optional peer dependency, imported only here. It removes the container when this process ends; another
 * process that uses the container then starts the next one.
 */
export const dockerLauncher: RedisLauncher = {
  origin: 'docker',
  async launch({ dir, password, port, users }) {
    requireOptionalPackage('testcontainers', 'A Redis in Docker');
    const { GenericContainer, Wait } = await import('testcontainers');
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const content = [`requirepass ${password}`, ...BASE_SETTINGS, ''].join('\n');
    const container = new GenericContainer(IMAGE)
      .withExposedPorts({ container: 6379, host: port })
      .withBindMounts([{ source: dir, target: '/data', mode: 'rw' }])
      // A file: every user of the machine could read a password on the command line.
      .withCopyContentToContainer([{ content, target: CONTAINER_CONFIG, mode: 0o444 }])
      .withCommand(['redis-server', CONTAINER_CONFIG])
      .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'));
    const { getuid, getgid } = process;
    // With the ids of this user, who can then read and delete the data.
    if (getuid && getgid) container.withUser(`${getuid()}:${getgid()}`);
    const started = await container.start();
    const held = openSync(users, 'r');
    const end = new Socket({ fd: openSync(users, constants.O_RDONLY | constants.O_NONBLOCK), readable: true });
    end.once('end', () => void started.stop({ timeout: STOP_WITHIN_MS }).finally(() => closeSync(held)));
    end.resume().unref();
  },
};

const PROGRAMS = ['redis-server', 'valkey-server'] as const;

/** The path of the first `redis-server`, else `valkey-server`, on a search path; undefined if there is none. */
export function findRedisBinary(searchPath: string | undefined): string | undefined {
  const folders = (searchPath ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const program of PROGRAMS) {
    const found = folders.map((folder) => join(folder, program)).find(isProgram);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** How to install Redis, by the package managers of the usual systems. */
export const INSTALL_REDIS =
  'sudo apt-get install redis-server (Debian, Ubuntu, WSL), sudo dnf install valkey (Fedora), sudo apk add redis (Alpine), brew install redis (macOS)';
