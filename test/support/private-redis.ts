/** A Redis of a test's own, to be killed, restarted and reconfigured. Knows nothing of vitest. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisBinary } from '../../src/runtime/redis-binary.js';
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
  const options = { binary: redisBinary, dir, password: 'test-password', settings };
  let server = await startRedisServer(options);
  const { port } = server;
  return {
    url: server.url,
    port,
    get pid() {
      return server.pid;
    },
    kill: () => server.kill(),
    async restart() {
      await server.stop();
      server = await startRedisServer({ ...options, port });
    },
    async close() {
      await server.kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
