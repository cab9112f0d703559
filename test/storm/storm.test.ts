import { describe, expect, it, onTestFinished } from 'vitest';
import { launchRedis } from '../support/private-redis.js';
import { SHORT, planStorm } from './plan.js';
import { runStorm } from './storm.js';

/** `STORM_SEED=…` repeats the plan of one storm; the timing of the processes still differs. The long form: `npm run verify:order`. */
const named = process.env['STORM_SEED'];
const seed = named === undefined ? Math.floor(Math.random() * 1_000_000) : Number(named);

async function aServer() {
  const server = await launchRedis();
  onTestFinished(() => server.close());
  return server;
}

describe('order: in a storm of killed, stopped and restarted processes, and of restarts of Redis', () => {
  it(
    `events stay in order, none is lost and none is repeated without a reason (STORM_SEED=${seed})`,
    async () => {
      const { violations, unclean, runs } = await runStorm({
        redis: await aServer(),
        plan: planStorm(seed, SHORT),
      });

      expect(violations).toEqual([]);
      expect(unclean).toEqual([]);
      expect(runs).toBeGreaterThan(3 * SHORT.events);
    },
    // A storm has its own length; what follows takes as long as the machine needs.
    300_000,
  );
});
