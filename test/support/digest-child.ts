/** A process that reads, limits and handles, for a test to kill at any time. It notes in Redis what each message contained. */
import { openClient, parseRedisUrl, type Redis } from '../../src/redis/client.js';
import { createDispatcher } from '../../src/delivery/dispatcher.js';
import { createHandlerPool } from '../../src/delivery/run/handler-pool.js';
import { Keys } from '../../src/redis/keys.js';
import { aSubscription, fanOutDeps } from './fan-out.js';

const { DIGEST_URL: url = '', DIGEST_PREFIX: prefix = '' } = process.env;
const connect = (): Redis => openClient(parseRedisUrl(url), { maxRetriesPerRequest: null });
const redis = connect();
const deps = fanOutDeps({ redis, keys: new Keys(prefix), connect });

const note = async (kind: 'singles' | 'digests', ids: readonly string[]): Promise<void> => {
  await redis.rpush(`${prefix}:${kind}`, ids.join(' '));
};
const subscription = aSubscription('s', (event) => note('singles', [event.id]), {
  mostPerMinute: 20,
  retry: { attempts: 100, delayMs: 10, maxDelayMs: 50 },
  async handleDigest({ events }) {
    const ids: string[] = [];
    for await (const { id } of events()) ids.push(id);
    await note('digests', ids);
  },
});
const all = { ...deps, subscriptions: [subscription], timing: { lockMs: 600, stalledCheckMs: 200 } };
await createHandlerPool(all).start();
await createDispatcher(all).start();
process.stdout.write('running\n');
