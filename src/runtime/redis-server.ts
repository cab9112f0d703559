/** A redis-server (or valkey-server) process of our own: loopback only, behind a password, ready when it answers PING. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { ChangefeedError, messageOf } from '../errors.js';
import { systemClock } from './clock.js';
import { freePort } from './port.js';

export interface RedisServerOptions {
  /** The program. */
  binary: string;
  /** Where it keeps its data and its log; created when missing, readable by us alone. */
  dir: string;
  password: string;
  /** @defaultValue a free one */
  port?: number;
  /** Further lines of its configuration; a later one wins. */
  settings?: readonly string[];
  /** How long it may take until it answers, loading its data included, in ms. @defaultValue 60000 */
  readyWithinMs?: number;
  /** Called as soon as the process exists, before it answers. */
  onSpawn?: (url: string) => void;
}

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process is gone, for whatever reason. */
  readonly exited: Promise<void>;
  /** SIGTERM, which writes what is to be written; SIGKILL when that takes longer than `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

const PORT_ATTEMPTS = 3;
const LOG_FILE = 'redis.log';

/** @throws ChangefeedError CF_REDIS_MISSING when the program does not come up */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  chmodSync(options.dir, 0o700);
  if (options.port !== undefined) return startOnPort(options, options.port);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnPort(options, await freePort());
    } catch (error) {
      // Between our looking and its listening another program may have taken the port.
      if (attempt === PORT_ATTEMPTS || !logOf(options.dir).includes('Address already in use')) throw error;
    }
  }
}

function redisUrl(port: number, password: string): string {
  return `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}/0`;
}

async function startOnPort(options: RedisServerOptions, port: number): Promise<RedisServer> {
  const child = spawnServer(options, port);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const url = redisUrl(port, options.password);
  if (child.pid !== undefined) options.onSpawn?.(url);
  const ready = await raceReady(url, exited, options.readyWithinMs ?? 60_000);
  if (ready !== 'ready' || child.pid === undefined) {
    child.kill('SIGKILL');
    throw new ChangefeedError('CF_REDIS_MISSING', { message: startFailure(options, ready) });
  }
  return { url, port, pid: child.pid, exited, ...stopping(child, exited) };
}

function spawnServer({ binary, dir, password, settings = [] }: RedisServerOptions, port: number): ChildProcess {
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
    'bind 127.0.0.1',
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

/** PING until it answers: the client retries the connection and waits while Redis loads its data. */
async function raceReady(url: string, exited: Promise<void>, withinMs: number): Promise<'ready' | 'exited' | 'late'> {
  const probe = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  probe.on('error', () => undefined);
  const giveUp = new AbortController();
  try {
    return await Promise.race([
      probe.ping().then(
        () => 'ready' as const,
        () => 'exited' as const,
      ),
      exited.then(() => 'exited' as const),
      systemClock.sleep(withinMs, giveUp.signal).then(
        () => 'late' as const,
        () => 'late' as const,
      ),
    ]);
  } finally {
    probe.disconnect();
    giveUp.abort();
  }
}

function stopping(child: ChildProcess, exited: Promise<void>): Pick<RedisServer, 'stop' | 'kill'> {
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  const stop = async (deadlineMs = 10_000): Promise<void> => {
    child.kill('SIGTERM');
    const late = new AbortController();
    const timer = systemClock.sleep(deadlineMs, late.signal).then(kill, () => undefined);
    await exited;
    late.abort();
    await timer;
  };
  return { stop, kill };
}

function startFailure({ binary, dir }: RedisServerOptions, ready: 'exited' | 'late' | 'ready'): string {
  const last = logOf(dir).trim().split('\n').at(-1) ?? '';
  const said = last === '' ? '' : ` Its last words: ${last}`;
  const what = ready === 'late' ? 'did not answer in time' : 'ended at once';
  return `"${binary}" was started in ${dir} and ${what}.${said} Mend that, or name a Redis with REDIS_URL.`;
}

function logOf(dir: string): string {
  try {
    return readFileSync(join(dir, LOG_FILE), 'utf8');
  } catch (error) {
    return messageOf(error);
  }
}
