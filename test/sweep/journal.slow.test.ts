/** Sweeps a changing workspace repeatedly. Its journal decides which events are correct. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createReadApi } from '../../src/api/client.js';
import { compileRules } from '../../src/detect/rules.js';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLog } from '../../src/runtime/log.js';
import { createSandbox } from '../../src/sandbox/sandbox.js';
import { scoreEvents } from '../../src/sandbox/verify/score.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import { sweepList } from '../../src/sweep/walk/run-sweep.js';
import { useRedis } from '../support/redis.js';

const unlimited = { take: () => Promise.resolve(), pause: () => Promise.resolve() };

describe('sweep: a changing sandbox', () => {
  const redis = useRedis();

  it.each([
    ['calm', null],
    ['restless', null],
    ['wild', null],
    ['churn', null],
    ['still-stamps', null],
    // The server is upgraded during the test: every row of some lists changes from one sweep to the next.
    ['calm', 'extras'],
    ['calm', 'drift-added'],
    ['calm', 'drift-removed'],
    ['calm', 'drift-reshaped'],
    ['restless', 'drift-added'],
  ])('sweep: reports every change and nothing else: %s, then %s', { timeout: 240_000 }, async (profile, switchedOn) => {
    const seed = 5;
    const sandbox = createSandbox({ people: 80, history: 40, activity: 40, limit: null, seed, profile });
    const { url, token } = await sandbox.start();
    const same = { workspace: 'acme', log: silentLog, clock: systemClock };
    const api = createReadApi({ ...same, baseUrl: url, token, budget: unlimited });
    onTestFinished(() => Promise.all([api.close(), sandbox.stop()]).then(() => undefined));
    const store = createSweepStore(redis.redis, redis.keys, 'acme');
    // Rounds are half a minute apart, so that no change is too new to be accepted.
    let rounds = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + rounds * 30_000 };
    const round = async (): Promise<void> => {
      rounds += 1;
      for (const list of LIST_NAMES) {
        await sweepList({ ...same, clock, api, store }, { list, rules: compileRules(list), baseline: 'quiet' });
      }
    };
    await round();
    for (let time = 0; time < 5; time += 1) {
      if (time === 2 && switchedOn !== null) sandbox.fault(switchedOn);
      sandbox.life.step(10);
      await round();
    }
    sandbox.behave({ churn: 0 });
    for (let time = 0; time < 3; time += 1) await round();

    const entries = await redis.redis.xrange(redis.keys.log('acme'), '-', '+');
    const events = entries.map(([, [, json = '']]) => JSON.parse(json) as ChangeEvent);
    const score = scoreEvents({ journal: sandbox.journal.lines(), events });
    expect({ missed: score.missed, inventions: score.inventions }).toEqual({ missed: [], inventions: [] });
    expect(score).toMatchObject({ recall: 1, falseEvents: 0, orderViolations: 0, sequenceGaps: 0, duplicates: 0 });
    expect(score.found).toBeGreaterThan(50);
  });
});
