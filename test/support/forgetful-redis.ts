/** A Redis at one address that goes back to an earlier state, as real ones do. Call it inside a test. */
import { copyFile, readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { eventually } from './eventually.js';
import { startRedisProxy } from './redis-proxy.js';
import { startPrivateRedis } from './redis.js';

/**
 * `failover`: a master is killed, and its replica, which was cut off before, takes over. `aof`: the server is killed, and the append-only file loses
 * its end. `backup`: the server is killed, and another one starts with a backup.
 */
export type Loss = 'failover' | 'aof' | 'backup';

export interface ForgetfulRedis {
  readonly url: string;
  remember(): Promise<void>;
  die(): Promise<void>;
  comeBack(): Promise<void>;
}

const OWN_PASSWORD = 'test-password';
/** The truncated file ends within a command. */
const PART_OF_A_COMMAND = 7;

export async function startForgetfulRedis(loss: Loss): Promise<ForgetfulRedis> {
  const server = await startPrivateRedis();
  const proxy = await startRedisProxy(server.url);
  const on = async <T>(url: string, act: (admin: Redis) => Promise<T>): Promise<T> => {
    const admin = new Redis(url);
    admin.on('error', () => undefined);
    try {
      return await act(admin);
    } finally {
      admin.disconnect();
    }
  };
  const losses: Record<Loss, () => Promise<Pick<ForgetfulRedis, 'remember' | 'comeBack'>>> = {
    async failover() {
      const settings = [`replicaof 127.0.0.1 ${server.port}`, `masterauth ${OWN_PASSWORD}`];
      const replica = await startPrivateRedis({ settings });
      return {
        async remember() {
          await on(server.url, (admin) => eventually(async () => expect(await admin.call('WAIT', 1, 100)).toBe(1)));
          await on(replica.url, (admin) => admin.replicaof('NO', 'ONE'));
        },
        comeBack() {
          proxy.leadTo(replica.url);
          return Promise.resolve();
        },
      };
    },
    aof() {
      let [file, bytes] = ['', 0];
      return Promise.resolve({
        async remember() {
          const folder = join(server.dir, 'appendonlydir');
          file = join(folder, (await readdir(folder)).find((name) => name.endsWith('.incr.aof')) ?? '');
          bytes = (await stat(file)).size;
        },
        async comeBack() {
          // A longer file would end in zeros. It has not grown where Redis has waited for the disk.
          await truncate(file, Math.min(bytes + PART_OF_A_COMMAND, (await stat(file)).size));
          await server.restart();
        },
      });
    },
    backup() {
      const backup = join(server.dir, 'backup.rdb');
      return Promise.resolve({
        async remember() {
          await on(server.url, (admin) => admin.save());
          await copyFile(join(server.dir, 'dump.rdb'), backup);
        },
        async comeBack() {
          const restored = await startPrivateRedis({ backup });
          await on(restored.url, (admin) => admin.config('SET', 'appendonly', 'yes'));
          proxy.leadTo(restored.url);
        },
      });
    },
  };
  return { url: proxy.url, die: () => server.kill(), ...(await losses[loss]()) };
}
