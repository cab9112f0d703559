/** Launches redis-server as a process of ours and keeps it there: one that falls over is started again in its place. */
import type { LaunchedRedis, LaunchOptions, RedisLauncher } from './redis-home.js';
import { runLoop } from './loop.js';
import { startRedisServer, type RedisServer } from './redis-server.js';

export function processLauncher(binary: string): RedisLauncher {
  return { origin: 'private', launch: (options) => launch(binary, options) };
}

async function launch(binary: string, { dir, password, log, onSpawn }: LaunchOptions): Promise<LaunchedRedis> {
  const options = { binary, dir, password, onSpawn };
  let server: RedisServer = await startRedisServer(options);
  const { url, port } = server;
  const stopping = new AbortController();

  // The same port again: every connection of ours finds it there when it tries anew.
  const watched = runLoop({
    name: 'private-redis',
    signal: stopping.signal,
    log,
    async run() {
      await server.exited;
      if (stopping.signal.aborted) return 0;
      log.error({ pid: server.pid }, 'the private Redis ended unexpectedly; starting it again');
      server = await startRedisServer({ ...options, port });
      return 0;
    },
  });

  return {
    url,
    async stop() {
      stopping.abort();
      await server.stop();
      await watched;
      // One that was being started again just then.
      await server.stop();
    },
  };
}
