/**
 * Launches Redis in a container, where the machine has Docker but no Redis. `testcontainers` is an optional dependency:
 * it is looked for only here and only then. Its reaper removes the
 * container when this process ends; another process that uses it then starts the next one.
 */
import { mkdirSync } from 'node:fs';
import type { LaunchOptions, RedisLauncher } from './redis-home.js';

const IMAGE = 'redis:7-alpine';
const CONFIG = '/usr/local/etc/redis/redis.conf';

export const dockerLauncher: RedisLauncher = { origin: 'docker', launch };

async function launch({ dir, password, port }: LaunchOptions): Promise<undefined> {
  const { GenericContainer, Wait } = await import('testcontainers');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const container = new GenericContainer(IMAGE)
    .withExposedPorts({ container: 6379, host: port })
    .withBindMounts([{ source: dir, target: '/data', mode: 'rw' }])
    // As a file: the command line of a container is there for everybody to read, and its port is open to the network.
    .withCopyContentToContainer([{ content: redisConf(password), target: CONFIG, mode: 0o444 }])
    .withCommand(['redis-server', CONFIG])
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'));
  const { getuid, getgid } = process;
  // As ourselves, so that the data stays ours to read and to delete.
  if (getuid && getgid) container.withUser(`${getuid()}:${getgid()}`);
  await container.start();
  return undefined;
}

function redisConf(password: string): string {
  return [`requirepass ${password}`, 'appendonly yes', 'maxmemory-policy noeviction', 'save ""', ''].join('\n');
}
