/** Starts a redis-server or valkey-server as a child of this process. */
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, ftruncateSync, openSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { ChangefeedError } from '../../kit/errors.js';

export interface ServerOptions {
  /** One that is on the PATH. */
  program: string;
  /** The folder of the server's data and log. */
  dir: string;
  /** Its configuration, absolute: every user of the machine could read a password on the command line. */
  file: string;
  /** Further lines of the configuration; they override those of `SETTINGS`. */
  settings?: readonly string[];
}

export type ServerProcess = ReturnType<typeof startServer>;

export const LOG_FILE = 'redis.log';

/** No eviction: an evicted key would be a lost record or job. No snapshots: the append-only file holds all data. */
const SETTINGS = [
  ...['bind 127.0.0.1', 'protected-mode yes', 'appendonly yes', 'appendfsync everysec'],
  ...['maxmemory-policy noeviction', 'save '],
];

/**
 * Only this user may read what the server creates. A subshell waits at a pipe of this process: the end of the pipe is the end of
 * this process, also by SIGKILL, and stops the server; a line is `leave`.
 */
const SHELL = 'umask 077; (read _ <&3 || kill $$) & exec "$0" "$@" 3<&-';

/** Does not wait until the server answers. */
export function startServer({ program, dir, file, settings = [] }: ServerOptions) {
  const log = openSync(join(dir, LOG_FILE), 'a', 0o600);
  ftruncateSync(log);
  const args = [...SETTINGS, ...settings].flatMap((line) => `--${line}`.split(' '));
  // Detached: Ctrl-C in the terminal must not end Redis before this process, which still writes while it stops.
  const child = spawn('sh', ['-c', SHELL, program, file, ...args], {
    ...{ cwd: dir, detached: true },
    stdio: ['ignore', log, log, 'pipe'],
  });
  closeSync(log);
  let isRunning = true;
  const ended = once(child, 'exit').catch(() => undefined);
  if (child.pid === undefined) throw new ChangefeedError('CF_REDIS_MISSING', { message: 'sh could not be started.' });
  const pipe = child.stdio[3] as Socket;
  pipe.on('error', () => undefined).unref();
  child.unref();
  const leave = (): void => void pipe.end('\n');
  void ended.then(() => {
    isRunning = false;
    // The subshell would signal a later process of the same id.
    leave();
  });
  return {
    pid: child.pid,
    ended,
    isRunning: () => isRunning,
    /** From now on it does not end with this process. */
    leave,
    stop: () => void child.kill(),
  };
}

/** The program to start; undefined if neither is on the PATH. */
export function findRedis(): string | undefined {
  return ['redis-server', 'valkey-server'].find((program) => spawnSync(program, ['--version']).status === 0);
}

/** Below the ports of outgoing connections (from 32768 on Linux, 49152 elsewhere): one could take ours. */
const RANGE = [20_000, 32_000] as const;

/** A port of the loopback address that is free now. Another program may take it at any time. */
export async function freePort(): Promise<number> {
  const port = randomInt(...RANGE);
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => once(server.close(), 'close'),
    () => null,
  );
  return isFree === null ? await freePort() : port;
}
