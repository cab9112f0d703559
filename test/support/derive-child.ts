/**
 * A process with a dispatcher and handlers with one derive function, for tests to kill. The environment names the point at
 * which it freezes, before or after it appends the derived event: it prints "frozen" and waits to be killed.
 */
import { openClient, parseRedisUrl, type Redis } from '../../src/redis/client.js';
import { createDispatcher } from '../../src/dispatch/dispatcher.js';
import { createHandlerPool } from '../../src/dispatch/handler-pool.js';
import { defineDerive, derivingSubscription, type AppendDerived } from '../../src/handlers/derive.js';
import { appendOnce } from '../../src/state/event-log.js';
import { Keys } from '../../src/state/keys.js';
import { fanOutDeps } from './fan-out.js';

const { DERIVE_URL: url = '', DERIVE_PREFIX: prefix = '', DERIVE_FREEZE: freezeAt = '' } = process.env;
const connect = (): Redis => openClient(parseRedisUrl(url), { maxRetriesPerRequest: null });
const redis = connect();
const keys = new Keys(prefix);
const deps = fanOutDeps({ redis, keys, connect });

function freeze(): Promise<never> {
  process.stdout.write(`frozen ${freezeAt}\n`);
  return new Promise(() => setInterval(() => undefined, 1_000));
}

const append: AppendDerived = async (call, events) => {
  if (freezeAt === 'before') await freeze();
  await appendOnce({ redis, keys }, call, events);
  if (freezeAt === 'after') await freeze();
};

const derivation = defineDerive({
  name: 'promotions',
  emits: ['acme.person.promoted'],
  on: ['crm.person.updated'],
  start: 'beginning',
  async derive({ subject, data: { sequence } }) {
    await redis.rpush(`${prefix}:seen`, `${subject} ${sequence}`);
    return { type: 'acme.person.promoted', data: { to: sequence } };
  },
});

const subscriptions = [derivingSubscription(derivation, append)];
await createDispatcher({ ...deps, subscriptions }).start();
const timing = { lockMs: 600, stalledCheckMs: 200 };
await createHandlerPool({ ...deps, timing, subscriptions }).start();
process.stdout.write('running\n');
