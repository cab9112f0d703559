/** Finds a redis-server or valkey-server and a free port, and spawns the keeper of the server (keeper.mjs). */
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, truncateSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChangefeedError } from '../../kit/errors.js';

export interface ServerOptions {
  /** One that is on the PATH. */
  program: string;
  password: string;
  port: number;
  /** Further lines of the configuration; they override those of `SETTINGS`. */
  settings?: readonly string[];
  /** A file that is removed when the server has ended. */
  lock?: string;
  /** A folder that is removed when the server has ended because its users have. */
  temporary?: string | undefined;
}

export type Keeper = ReturnType<typeof spawnKeeper>;

/** Names of connections: one keeps the server running after its spawner's end, one says that it ends now. */
export const [USER, ENDING] = ['changefeed-user', 'changefeed-ending'] as const;

export const LOG_FILE = 'redis.log';

/** No eviction: an evicted key would be a lost record or job. No snapshots: the append-only file holds all data. */
const SETTINGS = [
  ...['bind 127.0.0.1', 'protected-mode yes', 'dir ./', 'daemonize no'],
  ...['appendonly yes', 'appendfsync everysec', 'save ""', 'maxmemory-policy noeviction'],
];

/** @param dir the folder of the server's data and log; created if it does not exist, readable only by this user */
export function spawnKeeper(dir: string) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const log = openSync(join(dir, LOG_FILE), 'a', 0o600);
  const script = fileURLToPath(new URL('keeper.mjs', import.meta.url));
  // Options of Node are for this process, such as the port of its debugger.
  const env = { ...process.env, NODE_OPTIONS: '' };
  // Detached: Ctrl-C in the terminal must not end Redis before this process, which still writes while it stops.
  const child = spawn(process.execPath, [script], { cwd: '/', env, stdio: ['pipe', log, log], detached: true });
  closeSync(log);
  const ended = once(child, 'exit').catch(() => undefined);
  if (child.pid === undefined)
    throw new ChangefeedError('CF_REDIS_MISSING', { message: `${process.execPath} could not be started.` });
  child.unref();
  child.stdin?.on('error', () => undefined);
  if (child.stdin instanceof Socket) child.stdin.unref();
  return {
    pid: child.pid,
    /** Resolves when it has ended, and its server before it. */
    ended,
    /** Does not wait until the server answers. */
    start({ settings = [], temporary, ...server }: ServerOptions): void {
      const { port, password } = server;
      // The log shows this start only. A keeper that was too late for the lock must not empty it.
      truncateSync(join(dir, LOG_FILE));
      const config = [...SETTINGS, `port ${port}`, `requirepass ${password}`, ...settings, ''].join('\n');
      const folders = { dir: resolve(dir), temporary: temporary && resolve(temporary) };
      child.stdin?.write(
        `${JSON.stringify({ ...server, ...folders, config, names: { user: USER, ending: ENDING } })}\n`,
      );
    },
    /** The server ends when no user is connected. The end of this process does the same. */
    release: () => child.stdin?.end(),
  };
}

/** The program to start; undefined if neither is on the PATH. */
export function findRedis(): string | undefined {
  return ['redis-server', 'valkey-server'].find((program) => spawnSync(program, ['--version']).status === 0);
}

/** Below the ports of outgoing connections (from 32768 on Linux, 49152 elsewhere): one could take ours. */
const RANGE = [20_000, 32_000] as const;

/** This port of the loopback address if it is free now, else another one. Another program may take it at any time. */
export async function freePort(wanted = randomInt(...RANGE)): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => once(server.close(), 'close'),
    () => null,
  );
  return isFree === null ? await freePort() : wanted;
}
