import { expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { systemClock } from '../../src/kit/clock.js';
import { createProcessRegistry } from '../../src/redis/process-registry.js';
import { eventually } from '../support/eventually.js';
import { skippingClock } from '../support/fast-clock.js';
import { baselined, eventsOf, openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';
import { process as aProcess } from '../support/statuses.js';

const redis = useRedis();
const MINUTE_MS = 60_000;

// With an interval, a list is found by its schedule; without one, by the scheduler that spends the budget.
it.each([
  ['with an interval', { interval: '1s' }, -10 * MINUTE_MS],
  ['without an interval', {}, -120 * MINUTE_MS],
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

const WITHIN_A_MINUTE = { timeoutMs: 60_000 };

it('clock: a step of the clock is a problem and an event within a minute', async () => {
  const crm = await startOtherCrm();
  const clock = skippingClock(systemClock);
  const feed = await openFeed(redis, { workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }] }, { clock });
  await feed.start(['poll']);
  await baselined(feed);
  clock.step(-120 * MINUTE_MS);
  const told = async (): Promise<string[]> =>
    (await eventsOf(feed, ['changefeed.*'])).flatMap(({ type, data: { notice } }) =>
      type === 'changefeed.clock.stepped' || notice?.problem === 'clock.stepped' ? [type] : [],
    );
  await eventually(async () => expect(await told()).toEqual(['changefeed.clock.stepped']), WITHIN_A_MINUTE);
  const stepped = (await feed.status()).problems.find(({ kind }) => kind === 'clock.stepped');
  expect(stepped?.message).toMatch(/^The clock of process \d+ on .+ was set back by 2 h\./);
}, 90_000);

it('clock: a list is late when all processes that poll say so, although its last sweep lies in the future', async () => {
  const crm = await startOtherCrm();
  const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token }];
  const ahead = await openFeed(
    redis,
    { workspaces },
    { clock: { ...systemClock, now: () => systemClock.now() + 120 * MINUTE_MS } },
  );
  await ahead.sweep({ lists: ['people'] });
  const feed = await openFeed(redis, { workspaces });
  const people = async () => (await feed.status()).workspaces[0]?.lists.find(({ list }) => list === 'people');
  const polls = (id: string, more: object) =>
    createProcessRegistry(redis.redis, redis.keys).beat({ ...aProcess(['poll'], more), id }, 60_000);
  await polls('one', { late: [{ workspace: 'acme', list: 'people', forMs: 60_000 }] });
  expect(await people()).toMatchObject({ late: true, freshness: null });
  expect((await feed.status()).problems.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['list.late', 'clock.stepped']),
  );
  await polls('another', {});
  expect(await people()).toMatchObject({ late: false, freshness: null });
});
