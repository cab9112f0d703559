import { describe, expect, it, onTestFinished } from 'vitest';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { Keys } from '../../src/redis/keys.js';
import { eventually } from '../support/eventually.js';
import { clockShim, launchCluster, type ClusterServer, type TestCluster } from '../support/redis-cluster.js';
import { baselined, openFeed } from '../support/feed.js';
import { served } from '../support/sandbox.js';
import { launchWatchedRedis } from '../support/redis-sentinel.js';
import { sweptSince } from '../support/quiescence.js';
import { RIGHT, runMainJob, SUBSCRIPTION, WORKSPACE } from './main-job.js';

async function startCluster(options?: Parameters<typeof launchCluster>[0]): Promise<TestCluster> {
  const cluster = await launchCluster(options);
  onTestFinished(() => cluster.close());
  return cluster;
}

/** Moves the slot of a key to another master, some keys at a time, while it is used: `pause` waits for that. */
async function moveSlot(cluster: TestCluster, key: string, pause: () => Promise<void>): Promise<void> {
  const from = await cluster.ownerOf(key);
  const to = cluster.masters.find((one) => one !== from) as ClusterServer;
  const slot = await from.redis.cluster('KEYSLOT', key);
  await to.redis.cluster('SETSLOT', slot, 'IMPORTING', from.id);
  await from.redis.cluster('SETSLOT', slot, 'MIGRATING', to.id);
  for (;;) {
    const keys = await from.redis.cluster('GETKEYSINSLOT', slot, 20);
    if (keys.length === 0) break;
    await pause();
    const auth = ['AUTH', 'test-password', 'KEYS', ...keys] as const;
    await from.redis.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, ...auth);
  }
  for (const { redis } of [to, from, ...cluster.masters]) await redis.cluster('SETSLOT', slot, 'NODE', to.id);
  expect(await cluster.ownerOf(key)).toBe(to);
}

/** Returns what brings these keys of one slot back to their present state, as when a replica without the last writes takes over. */
async function remember(cluster: TestCluster, pattern: string): Promise<() => Promise<void>> {
  const { redis } = await cluster.ownerOf(pattern);
  const names = await redis.keys(pattern);
  const dumping = redis.multi();
  for (const name of names) dumping.dumpBuffer(name).pttl(name);
  const dumps = (await dumping.exec()) ?? [];
  return async () => {
    const restoring = redis.multi().del(...(await redis.keys(pattern)));
    names.forEach((name, index) => {
      const [[, dump] = [], [, ttlMs] = []] = dumps.slice(2 * index, 2 * index + 2);
      if (Buffer.isBuffer(dump)) restoring.restore(name, Math.max(0, Number(ttlMs)), dump);
    });
    for (const [error] of (await restoring.exec()) ?? []) expect(error).toBeNull();
  };
}

describe('cluster', () => {
  it('slots that move under load lose nothing, and keep the order', { timeout: 400_000 }, async () => {
    const cluster = await startCluster();
    const outcome = await runMainJob({
      url: cluster.url,
      seed: 2,
      changes: 1_200,
      meanwhile: async ({ keys, changed }) => {
        for (const key of [keys.log(WORKSPACE), keys.offsets(SUBSCRIPTION)])
          await moveSlot(cluster, key, () => changed(10));
      },
    });
    expect(outcome).toEqual(RIGHT);
    const stats = await Promise.all(cluster.masters.map(({ redis }) => redis.info('errorstats')));
    // Otherwise nothing was asked for while it moved.
    expect(stats.join()).toMatch(/errorstat_ASK:/);
    expect(stats.join()).toMatch(/errorstat_TRYAGAIN:/);
  });

  it.each(['the workspace', 'the subscription'])(
    'the master of %s is killed under load: its replica takes over, and everything ends up right',
    { timeout: 400_000 },
    async (whose) => {
      const cluster = await startCluster({ replicas: true });
      const outcome = await runMainJob({
        url: cluster.url,
        seed: 3,
        changes: 1_200,
        meanwhile: async ({ keys }) => {
          const key = whose === 'the workspace' ? keys.log(WORKSPACE) : keys.offsets(SUBSCRIPTION);
          const master = await cluster.ownerOf(key);
          await master.kill();
          await eventually(async () => expect(await cluster.ownerOf(key)).not.toBe(master));
        },
      });
      expect(outcome).toEqual({ ...RIGHT, reported: outcome.reported });
    },
  );

  it.skipIf(clockShim === null).each([0, 40])(
    'a replica whose clock is %i s behind takes over without the last seconds: every subscription on another server gets everything (skipped without a C compiler)',
    { timeout: 400_000 },
    async (replicasBehindS) => {
      const cluster = await startCluster({ replicas: true, replicasBehindS });
      const outcome = await runMainJob({
        url: cluster.url,
        seed: 5,
        changes: 1_200,
        meanwhile: async ({ keys, changed }) => {
          const key = keys.log(WORKSPACE);
          const master = await cluster.ownerOf(key);
          expect(await cluster.ownerOf(keys.offsets(SUBSCRIPTION))).not.toBe(master);
          const replica = cluster.replicas[cluster.masters.indexOf(master)]!;
          // It cannot follow its master any more.
          await replica.redis.config('SET', 'masterauth', 'another');
          await master.redis.call('CLIENT', 'KILL', 'TYPE', 'replica');
          await changed(240);
          await master.kill();
          await eventually(async () => expect(await cluster.ownerOf(key)).toBe(replica));
        },
      });
      // Two changes, of which the first was reported and lost, are found as one.
      // In a cluster, the clock of any server is looked at.
      const problems = outcome.problems.filter((kind) => kind !== 'clock.stepped');
      expect({ ...outcome, missed: [], problems }).toEqual({ ...RIGHT, reported: 1 });
    },
  );

  it.each([
    ['the workspace', (keys: Keys) => keys.everythingOf(WORKSPACE), 1],
    ['the subscription', (keys: Keys) => keys.everythingOfSubscription(SUBSCRIPTION), 0],
  ] as const)(
    'the keys of %s alone go back to an earlier state: everything ends up right',
    { timeout: 400_000 },
    async (_whose, patternOf, reported) => {
      const cluster = await startCluster();
      const outcome = await runMainJob({
        url: cluster.url,
        seed: 4,
        changes: 1_200,
        meanwhile: async ({ keys, changed }) => {
          const goBack = await remember(cluster, patternOf(keys));
          await changed(200);
          await goBack();
        },
      });
      // A record that was created and removed in the time that was lost has no removal: the end of the snapshot says that it is gone.
      expect({ ...outcome, missed: reported === 0 ? outcome.missed : [] }).toEqual({ ...RIGHT, reported });
    },
  );
});

it(
  'cluster: a process goes on after all servers were away, and one that is stopped meanwhile ends',
  { timeout: 400_000 },
  async () => {
    const cluster = await launchCluster({ persists: true });
    onTestFinished(() => cluster.close());
    const { target } = await served({ people: 10, seed: 8 });
    const raw = {
      workspaces: [{ name: WORKSPACE, baseUrl: target.url, token: target.token }],
      subscriptions: [defineHandler({ name: SUBSCRIPTION, on: ['crm.*'], handle: () => undefined })],
    };
    const place = { url: cluster.url, keys: new Keys('test-away') };
    const [going, ending] = [await openFeed(place, raw), await openFeed(place, raw)];
    await Promise.all([going.start(), ending.start()]);
    await baselined(going);

    await Promise.all(cluster.masters.map((master) => master.kill()));
    await ending.stop().catch(() => undefined);
    await Promise.all(cluster.masters.map((master) => master.restart()));
    await sweptSince(going, Date.now());
  },
);

it(
  'sentinel: the master is killed under load: its replica takes over, and everything ends up right',
  { timeout: 400_000 },
  async () => {
    const watched = await launchWatchedRedis();
    onTestFinished(() => watched.close());
    const outcome = await runMainJob({
      url: watched.url,
      seed: 7,
      changes: 1_200,
      meanwhile: async () => {
        await watched.master.kill();
        await eventually(async () => expect(await watched.masterPort()).not.toBe(watched.master.port));
      },
    });
    expect(outcome).toEqual({ ...RIGHT, reported: outcome.reported });
  },
);
