import { expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { systemClock } from '../../src/runtime/clock.js';
import { eventually } from '../support/eventually.js';
import { skippingClock } from '../support/fast-clock.js';
import { baselined, eventsOf, openFeed } from '../support/feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const MINUTE_MS = 60_000;

// With an interval, a list is found by its schedule; without one, by the scheduler that spends the budget.
it.each([
  ['with an interval', { interval: '1s' }, -10 * MINUTE_MS],
  ['without an interval', {}, -10 * MINUTE_MS],
  ['without an interval', {}, -120 * MINUTE_MS],
  ['without an interval', {}, 540 * MINUTE_MS],
])(
  'clock: a list %s is polled while the clock steps, and after the step is undone (%o, %i ms)',
  async (_name, options, stepMs) => {
    const sandbox = createSandbox({ people: 60, limit: null });
    const { url, token } = await sandbox.start();
    onTestFinished(() => sandbox.stop());
    const off = ['organization', 'memo', 'todo', 'history', 'activity'].map(
      (list) => [list, { enabled: false }] as const,
    );
    const lists: object = { ...Object.fromEntries(off), people: options };
    const clock = skippingClock(systemClock);
    const feed = await openFeed(redis, { workspaces: [{ name: 'acme', baseUrl: url, token, lists }] }, { clock });
    const found = async (id: string): Promise<boolean> => (await eventsOf(feed)).some(({ subject }) => subject === id);
    await feed.start(['poll']);
    await baselined(feed);
    for (const ms of [stepMs, -stepMs]) {
      clock.step(ms);
      const id = sandbox.life.createPerson();
      await eventually(async () => expect(await found(id)).toBe(true));
    }
  },
);
