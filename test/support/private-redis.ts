/** A Redis server for one test, which may kill, restart and reconfigure it. Does not import vitest. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { withinTime } from '../../src/kit/clock.js';
import { openRedis } from '../../src/redis/private/open.js';
import { silentLog } from '../../src/kit/log.js';
import { probeRedis } from '../../src/redis/probe.js';
import { addressOf } from '../../src/redis/private/address.js';
import { findRedis, freePort, LOG_FILE, startServer, type ServerOptions } from '../../src/redis/private/launch.js';

export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dir: string;
  /** SIGKILL: data that is not yet on disk is lost, as in a power failure. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface PrivateRedisOptions {
  /** Lines of redis.conf, e.g. `maxmemory 10mb`. By default, only the append-only file is kept on disk. */
  settings?: readonly string[];
  /** A backup (an RDB file) that it starts with. */
  backup?: string;
}

export interface Certificate {
  /** Files. The certificate signs itself. */
  cert: string;
  key: string;
}

/** An encrypted port beside the other one. */
export function tlsSettings({ port, cert, key }: Certificate & { port: number }): string[] {
  const files = [`tls-cert-file ${cert}`, `tls-key-file ${key}`, `tls-ca-cert-file ${cert}`];
  return [`tls-port ${port}`, ...files, 'tls-auth-clients no'];
}

/** Undefined on a machine without redis-server and valkey-server. */
export const redisBinary = findRedis();

const END_WITHIN_MS = 60_000;

export async function launchRedis({ settings = [], backup }: PrivateRedisOptions = {}): Promise<PrivateRedis> {
  if (redisBinary === undefined) throw new Error('This test needs redis-server or valkey-server on the PATH.');
  const dir = await mkdtemp(join(tmpdir(), 'changefeed-test-redis-'));
  const password = 'test-password';
  // With its append-only file, Redis starts empty where there is only an RDB file.
  const restoring = backup === undefined ? [] : ['appendonly no'];
  if (backup !== undefined) await copyFile(backup, join(dir, 'dump.rdb'));
  const port = await freePort();
  const url = `redis://:${password}@127.0.0.1:${port}/0`;
  const file = join(dir, 'redis.conf');
  await writeFile(file, `port ${port}\nrequirepass ${password}\n`);
  const options = { program: redisBinary, dir, file, settings: [...settings, ...restoring] };
  let server = await start(url, options);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    try {
      process.kill(server.pid, signal);
    } catch {
      // A test has ended it.
    }
    // The wait for it does not keep a script running by itself.
    await withinTime(server.ended, END_WITHIN_MS);
  };
  return {
    ...{ url, port, dir },
    get pid() {
      return server.pid;
    },
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      server = await start(url, options);
    },
    async close() {
      await end('SIGKILL');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function start(url: string, options: ServerOptions): Promise<ReturnType<typeof startServer>> {
  const server = startServer(options);
  const redis = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  try {
    const info = await Promise.race([redis.info('server'), server.ended]);
    if (String(info).includes(`process_id:${server.pid}`)) return server;
    throw new Error(readFileSync(join(options.dir, LOG_FILE), 'utf8'));
  } finally {
    redis.disconnect();
  }
}

export const hasAddress = (stateDir: string): boolean => existsSync(join(stateDir, 'redis.conf'));

/** Stops a private Redis that killed processes left running, as its last user. */
export async function stopLeftRedis(stateDir: string): Promise<void> {
  if (!hasAddress(stateDir)) return;
  const failure = await probeRedis((await addressOf(stateDir)).url, { mustKnowPassword: true });
  if (failure === null) await (await openRedis({ stateDir, log: silentLog })).close();
}

/** The number of processes whose working directory is this folder; 0 where the system does not show it (only Linux does). */
export function processesIn(dir: string): number {
  if (!existsSync('/proc/self/cwd')) return 0;
  const works = (pid: string): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === dir;
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && works(name)).length;
}
