/** A Redis of a test's own, to be killed, restarted and reconfigured. Knows nothing of vitest. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/runtime/port.js';
import { openRedis } from '../../src/runtime/embedded-redis.js';
import { silentLog } from '../../src/runtime/log.js';
import { findRedisBinary } from '../../src/runtime/redis-binary.js';
import { probeRedis } from '../../src/runtime/redis-probe.js';
import { startRedisServer } from '../../src/runtime/redis-server.js';

export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** SIGKILL: what was not yet on disk is lost, as in a power cut. */
  kill(): Promise<void>;
  /** Stops it if it runs, then starts it again: same port, password and data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface PrivateRedisOptions {
  /** Lines of redis.conf, e.g. `maxmemory 10mb`. Without any, nothing is kept on disk but the append-only file. */
  settings?: readonly string[];
}

/** Undefined on a machine without redis-server and valkey-server. */
export const redisBinary = findRedisBinary(process.env['PATH']);

export async function launchRedis({ settings = [] }: PrivateRedisOptions = {}): Promise<PrivateRedis> {
  if (redisBinary === undefined) throw new Error('This test needs redis-server or valkey-server on the PATH.');
  const dir = await mkdtemp(join(tmpdir(), 'changefeed-test-redis-'));
  const password = 'test-password';
  const options = { binary: redisBinary, dir, password, port: await freePort(), settings };
  let server = await startRedisServer(options);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const exited = once(server, 'exit');
    if (server.kill(signal)) await exited;
  };
  return {
    url: `redis://:${password}@127.0.0.1:${options.port}/0`,
    port: options.port,
    get pid() {
      return server.pid ?? -1;
    },
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      server = await startRedisServer(options);
    },
    async close() {
      await end('SIGKILL');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** What `redis.json` says of the private Redis of a state directory. */
export function homeOf(stateDir: string): { url: string; users: { pid: number; token: string }[] } {
  return JSON.parse(readFileSync(join(stateDir, 'redis.json'), 'utf8')) as ReturnType<typeof homeOf>;
}

/** Killed processes leave their Redis running: the last user stops it, and that is this cleanup. */
export async function stopLeftRedis(stateDir: string): Promise<void> {
  if (!existsSync(join(stateDir, 'redis.json'))) return;
  const { outcome } = await probeRedis(homeOf(stateDir).url, { mustKnowPassword: true });
  if (outcome === 'ready') await (await openRedis({ stateDir, log: silentLog })).close();
}

/** Processes that work in this folder, where the system shows them (Linux). */
export function serversIn(dir: string): number {
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
