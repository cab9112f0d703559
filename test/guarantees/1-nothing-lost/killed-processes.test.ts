import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSweepStore } from '../../../src/state/sweep-store.js';
import { useChain, type Chain } from '../../support/chain.js';
import { deliveredSequences, live } from '../../support/delivered.js';
import { eventually } from '../../support/eventually.js';
import { useProcesses } from '../../support/process.js';
import { program } from '../../support/program.js';
import { useRedis } from '../../support/redis.js';
import { differences, readEverything } from '../../support/api-state.js';

/** The leases of a killed poller last 15 s. The next one must start and wait for them. */
const AFTER_A_KILL = { timeoutMs: 60_000 };

describe('nothing lost: killed processes', () => {
  const redis = useRedis();
  const chain = useChain();
  const spawn = useProcesses();

  async function workers(world: Chain) {
    const cwd = await mkdtemp(join(tmpdir(), 'changefeed-killed-'));
    onTestFinished(() => rm(cwd, { recursive: true, force: true }));
    const config = JSON.stringify(world.config('1s', redis.keys.prefix));
    await writeFile(join(cwd, 'changefeed.config.json'), config);
    return (role: 'poll' | 'dispatch' | 'handle') =>
      spawn(program('src/cli/main'), {
        args: ['start', '--only', role],
        cwd,
        env: { REDIS_URL: redis.url, LOG_LEVEL: 'info' },
      });
  }
  const store = () => createSweepStore(redis.redis, redis.keys, 'acme');
  const baselined = async (): Promise<void> => {
    const { state } = await store().load('people');
    expect(state.baselineAt).not.toBeNull();
  };

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
      for (const list of ['people', 'organization', 'memo', 'todo', 'history', 'activity'] as const) {
        await eventually(async () => expect((await store().load(list)).state.baselineAt).not.toBeNull(), AFTER_A_KILL);
      }
      await baselined();

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
      for (const { subject, sequences } of stories) {
        const expected = Array.from({ length: sequences.length }, (_, index) => index + 1);
        expect({ subject, sequences }).toEqual({ subject, sequences: expected });
      }
      expect(stories).toHaveLength(truth.length);
      await Promise.all([poller.kill(), dispatcher.kill(), handlers.kill()]);
    },
  );
});
