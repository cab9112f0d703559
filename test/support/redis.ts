/** Redis for tests: a separate key prefix per test in the shared server, and separate servers for tests that break them. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { beforeEach, inject, onTestFinished } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { openClient, parseRedisUrl, scanKeys, type Options } from '../../src/redis/client.js';
import { Keys } from '../../src/redis/keys.js';
import { launchRedis, type PrivateRedis, type PrivateRedisOptions } from './private-redis.js';

export interface TestRedis {
  readonly redis: Redis;
  readonly url: string;
  /** Keys under a prefix that no other test uses. */
  readonly keys: Keys;
  /** One more connection (for BullMQ: `{ maxRetriesPerRequest: null }`), closed after the test. */
  connect(options?: Options): Redis;
}

/**
 * Call it once at the top of a `describe` or a file. After each test its connections are closed, and its keys are
 * deleted if it passed; those of a failed test stay (of use with TEST_REDIS_URL) and their prefix is printed.
 */
export function useRedis(): TestRedis {
  const url = inject('redisUrl');
  let connections: Redis[] = [];
  let current: { redis: Redis; keys: Keys } | undefined;

  const connect = (options: Options = {}): Redis => {
    // TEST_REDIS_URL may name a cluster. Tests about one server alone then fail.
    const redis = openClient(parseRedisUrl(url), options) as Redis;
    connections.push(redis);
    return redis;
  };
  const running = (): { redis: Redis; keys: Keys } => {
    if (current === undefined) throw new Error('useRedis() gives a connection to running tests only.');
    return current;
  };

  beforeEach(({ task, onTestFinished: atLast }) => {
    const { redis, keys } = (current = {
      redis: connect(),
      keys: new Keys(`test-${randomBytes(6).toString('hex')}`),
    });
    // Registered first, so it runs last: everything that the test started is stopped before its connections are closed.
    atLast(async () => {
      if (task.result?.state === 'fail') {
        process.stderr.write(`The keys of the failed test "${task.name}" stay under ${keys.prefix}\n`);
      } else {
        // Leftover work of the test may still write, so its connections are closed before its keys are deleted.
        for (const connection of connections) if (connection !== redis) connection.disconnect();
        await deleteKeys(redis, keys.prefix);
      }
      for (const connection of connections) connection.disconnect();
      connections = [];
      current = undefined;
    });
  });

  return {
    url,
    connect,
    get redis() {
      return running().redis;
    },
    get keys() {
      return running().keys;
    },
  };
}

export async function loggedEvents(
  { redis, keys }: { redis: Redis; keys: Keys },
  workspace = 'acme',
): Promise<ChangeEvent[]> {
  const entries = await redis.xrange(keys.log(workspace), '-', '+');
  return entries.map(([, [, json = '']]) => JSON.parse(json) as ChangeEvent);
}

async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  for await (const found of scanKeys(redis, { match: `${prefix}:*`, count: 1_000 }))
    await Promise.all(found.map((key) => redis.unlink(key)));
}

/** A server for this test only, to kill, restart or configure; removed after the test. Call it inside a test. */
export async function startPrivateRedis(options?: PrivateRedisOptions): Promise<PrivateRedis> {
  const server = await launchRedis(options);
  onTestFinished(() => server.close());
  return server;
}
