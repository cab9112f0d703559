/**
 * A process of the fan-out for tests to kill: `dispatch`, `handle` or `replay`. The environment names the point at which it
 * freezes: it prints "frozen" and waits to be killed. Its handlers record what they do in lists in Redis.
 */
import { writeSync } from 'node:fs';
import { openClient, parseRedisUrl, type Redis } from '../../src/redis/client.js';
import { createDispatcher } from '../../src/delivery/dispatcher.js';
import { createHandlerPool, DEFAULT_TIMING } from '../../src/delivery/run/handler-pool.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { DisableSubscriptionError, PermanentError } from '../../src/delivery/handlers/errors.js';
import { systemClock } from '../../src/kit/clock.js';
import { Keys } from '../../src/redis/keys.js';
import { aSubscription, fanOutDeps } from './fan-out.js';

const {
  FAN_OUT_URL: url = '',
  FAN_OUT_PREFIX: prefix = '',
  FAN_OUT_ROLE: role,
  FAN_OUT_FREEZE: freezeAt = '',
} = process.env;
const connect = (): Redis => openClient(parseRedisUrl(url), { maxRetriesPerRequest: null });
const redis = connect();
const blocked = connect();
const deps = fanOutDeps({ redis, keys: new Keys(prefix), connect });

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Keeps the process alive until the test kills it. */
function freeze(): Promise<never> {
  say(`frozen ${freezeAt}`);
  return new Promise(() => setInterval(() => undefined, 1_000));
}

const calls = new Map<string, number>();
async function freezeAtCall(what: string): Promise<void> {
  const count = (calls.get(what) ?? 0) + 1;
  calls.set(what, count);
  if (freezeAt === `${what}-${count}`) await freeze();
}

const backfills: typeof deps.backfills = {
  ...deps.backfills,
  async step(...args) {
    const [, , { staged }] = args;
    if (staged === undefined) await freezeAtCall('moving');
    if (staged === 'sent') await freezeAtCall('unstaging');
    const moved = await deps.backfills.step(...args);
    if (typeof staged === 'object') await freezeAtCall('staged');
    return moved;
  },
};
const source: typeof deps.source = {
  begin: (...args) => deps.source.begin(...args),
  condition: (...args) => deps.source.condition(...args),
  async scan(...args) {
    const scan = await deps.source.scan(...args);
    await freezeAtCall('scanned');
    return scan;
  },
};

const gate: typeof deps.gate = {
  ...deps.gate,
  async enter(...args) {
    const entered = await deps.gate.enter(...args);
    const [, { source, workspace }] = args;
    await freezeAtCall(source === workspace ? 'entered' : 'entered-backfill');
    return entered;
  },
  async advance(...args) {
    const left = await deps.gate.advance(...args);
    return freezeAt === 'left' ? await freeze() : left;
  },
  async handled(...args) {
    const left = await deps.gate.handled(...args);
    return freezeAt === 'left' ? await freeze() : left;
  },
  async drop(...args) {
    const left = await deps.gate.drop(...args);
    return freezeAt === 'left' ? await freeze() : left;
  },
  async merge(...args) {
    if (freezeAt === 'merging') await freeze();
    const merged = await deps.gate.merge(...args);
    return freezeAt === 'merged' ? await freeze() : merged;
  },
};

const lineOf = ({ subject, id, data }: ChangeEvent): string => `${subject} ${data.sequence} ${id}`;

const subscription = aSubscription(
  's',
  async (event) => {
    const { subject, data } = event;
    const { sequence } = data;
    await redis.rpush(`${prefix}:seen`, lineOf(event));
    if (freezeAt === `handling-${sequence}`) await freeze();
    if (process.env['FAN_OUT_HOLDS'] === `${subject} ${sequence}`) {
      say('holding');
      await blocked.blpop(`${prefix}:go-${process.pid}`, 0);
    }
    // Long enough to be in flight when another event makes the process crash.
    if (process.env['FAN_OUT_CRASHES'] !== undefined) await systemClock.sleep(300);
    if (process.env['FAN_OUT_CRASHES'] === subject) process.kill(process.pid, 'SIGKILL');
    if (process.env['FAN_OUT_BLOCKS'] === subject) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
    if (process.env['FAN_OUT_GONE'] === String(sequence)) throw new DisableSubscriptionError('gone');
    if (process.env['FAN_OUT_DIES'] === String(sequence)) throw new PermanentError('by plan');
    await redis.rpush(`${prefix}:done`, lineOf(event));
  },
  {
    timeoutMs: 600_000,
    ...(process.env['FAN_OUT_ATTEMPTS'] && {
      retry: { attempts: Number(process.env['FAN_OUT_ATTEMPTS']), delayMs: 10, maxDelayMs: 50 },
    }),
    receipts: { ageMs: 3_600_000, number: 1_000 },
    start: process.env['FAN_OUT_START'] ?? 'beginning',
    ...(process.env['FAN_OUT_SETTLES'] && { settle: { stillMs: 1, atMostMs: 1 } }),
  },
);

if (role === 'dispatch') {
  const log: typeof deps.log = {
    ...deps.log,
    read: async (...args) => {
      const events = await deps.log.read(...args);
      return freezeAt === 'read' && events.length > 0 ? await freeze() : events;
    },
  };
  const offsets: typeof deps.offsets = {
    ...deps.offsets,
    advance: (...args) => (freezeAt === 'added' ? freeze() : deps.offsets.advance(...args)),
  };
  await createDispatcher({
    ...deps,
    log,
    offsets,
    backfills,
    source,
    gate,
    subscriptions: [subscription],
  }).start();
} else if (role === 'replay') {
  const operations = createDispatcher({ ...deps, gate, backfills, subscriptions: [subscription] });
  await operations.replay({ subscription: 's', from: 'beginning' });
} else {
  const timing = process.env['FAN_OUT_BLOCKS'] === undefined ? { lockMs: 600, stalledCheckMs: 200 } : DEFAULT_TIMING;
  const health: typeof deps.health = {
    ...deps.health,
    async pause(...args) {
      const switched = await deps.health.pause(...args);
      return freezeAt === 'marked' ? await freeze() : switched;
    },
  };
  const log: typeof deps.log = {
    ...deps.log,
    async event(...args) {
      const logged = await deps.log.event(...args);
      if (logged?.event.id === process.env['FAN_OUT_STOPS']) {
        writeSync(1, 'stopped\n');
        process.kill(process.pid, 'SIGSTOP');
      }
      return logged;
    },
  };
  await createHandlerPool({ ...deps, log, gate, health, timing, subscriptions: [subscription] }).start();
}
say('running');
