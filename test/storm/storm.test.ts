import { describe, expect, inject, it } from 'vitest';
import { SHORT, planStorm } from './plan.js';
import { runStorm } from './storm.js';

/** `STORM_SEED=…` repeats the plan of one storm; what the processes make of it is theirs. The long form: `npm run verify:order`. */
const named = process.env['STORM_SEED'];
const seeds = named === undefined ? [6, Math.floor(Math.random() * 1_000_000)] : [Number(named)];

describe('thousands of runs on few records, while processes are killed, stopped and restarted', () => {
  it.each(seeds)(
    'keep the order, lose nothing and repeat nothing without a reason (STORM_SEED=%i)',
    async (seed) => {
      const { violations, unclean, runs } = await runStorm({
        redisUrl: inject('redisUrl'),
        plan: planStorm(seed, SHORT),
      });

      expect(violations).toEqual([]);
      expect(unclean).toEqual([]);
      expect(runs).toBeGreaterThan(3 * SHORT.events);
    },
    120_000,
  );

  it('the control: without the gate they do not', async () => {
    const calm = { ...planStorm(1, { ...SHORT, events: 200, stormMs: 1 }), mishaps: [] };
    const { violations } = await runStorm({ redisUrl: inject('redisUrl'), plan: calm, ungated: true });

    const breaches = new Set(violations.map(({ breach }) => breach));
    expect([...breaches]).toEqual(expect.arrayContaining(['beside', 'out of sequence']));
  }, 60_000);
});
