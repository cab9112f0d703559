/** A Redis that histories use one after the other: it can be put back to its last backup, as another server. */
import { copyFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { launchRedis, type PrivateRedis } from '../support/private-redis.js';

export class BackedUpRedis {
  readonly #server: PrivateRedis;
  #hasBackup = false;

  private constructor(server: PrivateRedis) {
    this.#server = server;
  }

  static async launch(): Promise<BackedUpRedis> {
    return new BackedUpRedis(await launchRedis({ settings: ['appendonly no'] }));
  }

  get url(): string {
    return this.#server.url;
  }

  async clear(): Promise<void> {
    this.#hasBackup = false;
    await this.#ask((redis) => redis.flushall());
  }

  async backUp(): Promise<void> {
    await this.#ask((redis) => redis.save());
    await copyFile(this.#file('dump.rdb'), this.#file('backup.rdb'));
    this.#hasBackup = true;
  }

  /** False: there is no backup, and nothing happens. */
  async goBack(): Promise<boolean> {
    if (!this.#hasBackup || !existsSync(this.#file('backup.rdb'))) return false;
    await this.#server.kill();
    await copyFile(this.#file('backup.rdb'), this.#file('dump.rdb'));
    await this.#server.restart();
    return true;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #ask(act: (redis: Redis) => Promise<unknown>): Promise<void> {
    const redis = new Redis(this.url);
    redis.on('error', () => undefined);
    try {
      await act(redis);
    } finally {
      redis.disconnect();
    }
  }

  #file(name: string): string {
    return join(this.#server.dir, name);
  }
}
