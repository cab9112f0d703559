import { expect, it } from 'vitest';
import { LIST_NAMES } from '../../../src/crm/lists/lists.js';
import { createSweepStore } from '../../../src/feed/store/sweep-store.js';
import { useChain, type Chain } from '../../support/chain.js';
import { useCli } from '../../support/cli.js';
import { deliveredSequences, expectNoGap, live } from '../../support/delivered.js';
import { eventually } from '../../support/eventually.js';
import { useRedis } from '../../support/redis.js';
import { differences, readEverything } from '../../support/api-state.js';

/** The leases of a killed poller last 15 s. The next one must start and wait for them. */
const AFTER_A_KILL = { timeoutMs: 60_000 };

const redis = useRedis();
const chain = useChain();
const cli = useCli();

async function workers(world: Chain) {
  const folder = await cli({ 'changefeed.config.json': world.config('1s', redis.keys.prefix) });
  return (role: 'poll' | 'dispatch' | 'handle') =>
    folder.start(['start', '--only', role], { REDIS_URL: redis.url, LOG_LEVEL: 'info' });
}
const store = () => createSweepStore(redis.redis, redis.keys, 'acme');

it(
  'nothing lost: events arrive in order and without a gap although poller, dispatcher and handlers are killed',
  { timeout: 240_000 },
  async () => {
    let answering = true;
    const world = await chain({ reply: () => (answering ? {} : 'silence'), sandbox: { people: 300, seed: 3 } });
    const { sandbox } = world;
    const start = await workers(world);
    let [poller, dispatcher, handlers] = [start('poll'), start('dispatch'), start('handle')];
    const before = await readEverything(world);
    for (const list of LIST_NAMES) {
      await eventually(async () => expect((await store().load(list)).state.baselineAt).not.toBeNull(), AFTER_A_KILL);
    }

    // The poller, in the middle of a sweep that has found something.
    sandbox.behave({ latencyMs: 100 });
    live(sandbox.life);
    await eventually(async () => expect((await store().load('people')).checkpoint?.pages).toBeGreaterThanOrEqual(2));
    await poller.kill();
    live(sandbox.life);
    sandbox.behave({ latencyMs: 0 });
    poller = start('poll');

    // The handlers, while the receiver has the event and has not answered.
    answering = false;
    const arrived = world.receiver.received.length;
    await eventually(() => expect(world.receiver.received.length).toBeGreaterThan(arrived), AFTER_A_KILL);
    await handlers.kill();
    answering = true;
    handlers = start('handle');

    // The dispatcher, three times, as soon as the log has grown.
    for (let round = 0; round < 3; round++) {
      const length = await redis.redis.xlen(redis.keys.log('acme'));
      live(sandbox.life);
      await eventually(async () => expect(await redis.redis.xlen(redis.keys.log('acme'))).toBeGreaterThan(length), {
        ...AFTER_A_KILL,
        intervalMs: 1,
      });
      await dispatcher.kill();
      dispatcher = start('dispatch');
    }

    const truth = differences(before, await readEverything(world));
    const stories = await eventually(() => deliveredSequences(world.changes(), truth), {
      timeoutMs: 90_000,
      intervalMs: 250,
    });
    expectNoGap(stories, truth);
    await Promise.all([poller.kill(), dispatcher.kill(), handlers.kill()]);
  },
);
