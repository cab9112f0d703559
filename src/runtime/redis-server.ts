/** A redis-server (or valkey-server) process of our own: loopback only, behind a password, ready when it answers. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import { systemClock } from './clock.js';

export interface RedisServerOptions {
  /** The program. */
  binary: string;
  /** Where it keeps its data and its log; created when missing, readable by us alone. */
  dir: string;
  password: string;
  port: number;
  /** Further lines of its configuration; a later one wins. */
  settings?: readonly string[];
}

const HOST = '127.0.0.1';
const LOG_FILE = 'redis.log';
/** Loading its data included. */
const READY_WITHIN_MS = 60_000;

/**
 * @throws ChangefeedError CF_REDIS_MISSING when the program does not come up; its fact `portTaken` says whether that was
 *   because another program listens there
 */
export async function startRedisServer(options: RedisServerOptions): Promise<ChildProcess> {
  const { dir } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const child = spawnServer(options);
  const ended = new Promise<false>((resolve) => {
    child.once('exit', () => resolve(false));
    child.once('error', () => resolve(false));
  });
  if (await isReady(child, options, ended)) return child;
  const failure = startFailure(options, child.exitCode === null ? 'did not answer in time' : 'ended at once');
  child.kill('SIGKILL');
  await ended;
  throw failure;
}

function spawnServer({ binary, dir, password, port, settings = [] }: RedisServerOptions): ChildProcess {
  const log = openSync(join(dir, LOG_FILE), 'w', 0o600);
  // A session of its own: Ctrl-C in the terminal is for us, who still need Redis to put things in order.
  const child = spawn(binary, ['-'], { cwd: dir, stdio: ['pipe', log, log], detached: true });
  closeSync(log);
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  // The configuration goes through standard input: on the command line every user of the machine could read the password.
  child.stdin?.end([...baseSettings(port, password), ...settings, ''].join('\n'));
  child.unref();
  return child;
}

function baseSettings(port: number, password: string): string[] {
  return [
    `bind ${HOST}`,
    `port ${port}`,
    'protected-mode yes',
    `requirepass ${password}`,
    'dir ./',
    'daemonize no',
    'appendonly yes',
    'appendfsync everysec',
    // An evicted key would be a lost record or a lost job.
    'maxmemory-policy noeviction',
    // The append-only file is the one copy that is kept; snapshots beside it would only cost.
    'save ""',
  ];
}

/** The client retries the connection, and waits while Redis loads its data. */
async function isReady(
  child: ChildProcess,
  { port, password }: RedisServerOptions,
  ended: Promise<false>,
): Promise<boolean> {
  const redis = new Redis({ host: HOST, port, password, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  // Another server may have taken the port, with the same password even: then this process is about to end.
  const answered = redis.info('server').then((info) => info.includes(`process_id:${child.pid}\r`) || ended);
  const done = new AbortController();
  const late = systemClock.sleep(READY_WITHIN_MS, done.signal).catch(() => undefined);
  try {
    return await Promise.race([answered.catch(() => ended), ended, late.then(() => false)]);
  } finally {
    redis.disconnect();
    done.abort();
  }
}

function startFailure({ binary, dir }: RedisServerOptions, what: string): ChangefeedError {
  const log = logOf(dir).trim();
  const last = log.split('\n').at(-1) ?? '';
  const said = last === '' ? '' : ` The last line of its log: ${last}`;
  return new ChangefeedError('CF_REDIS_MISSING', {
    message: `"${binary}" was started in ${dir} and ${what}.${said} Correct that, or name a Redis with REDIS_URL.`,
    portTaken: log.includes('Address already in use'),
  });
}

function logOf(dir: string): string {
  try {
    return readFileSync(join(dir, LOG_FILE), 'utf8');
  } catch (error) {
    return messageOf(error);
  }
}
