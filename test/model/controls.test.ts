import { expect, it } from 'vitest';
import type { SweepStore } from '../../src/feed/store/sweep-store.js';
import { useRedis } from '../support/redis.js';
import { findFailure, SHARDS } from './model.js';
import type { Sabotage } from './run.js';

const eventsInASecondStep: Sabotage = {
  store: (store) => ({
    async commit(list, commit) {
      const events = commit.writes.flatMap(({ event }) => event ?? []);
      const writes = commit.writes.map((write) => ({ ...write, event: null }));
      const result = await store.commit(list, { ...commit, writes });
      const { token, checkpoint = null, summary = null } = commit;
      if (events.length > 0) await store.commit(list, { token, checkpoint, summary, writes: [], events });
      return result;
    },
  }),
};

/** Commits every page twice, as a retry without an idempotency key would. */
const pagesCommittedTwice: Sabotage = {
  store: (store) => ({
    async commit(list, commit) {
      await store.commit(list, commit);
      return await store.commit(list, commit);
    },
  }),
};

const noFencing: Sabotage = {
  store: (store, { redis, keys, workspace }) => {
    const takeLease: SweepStore['release'] = async (list, token) => {
      await redis.set(keys.lease(workspace, list), token);
    };
    return {
      commit: async (list, commit) => (await takeLease(list, commit.token), await store.commit(list, commit)),
      promotePages: async (list, pages) => (await takeLease(list, pages.token), await store.promotePages(list, pages)),
      renew: () => Promise.resolve(true),
    };
  },
};

const removalAtFirstSweep: Sabotage = {
  options: (options) => ({ ...options, removals: { confirm: 1, afterMs: 0, maxShare: 0.2, maxCount: 10 } }),
};

const acceptanceIgnored: Sabotage = {
  store: (store) => ({
    async decided(list) {
      const { creations, ...others } = await store.decided(list);
      return { ...others, creations: { ...creations, acceptedAt: null } };
    },
  }),
};

const redis = useRedis();

// The last value is a seed that finds the failure soon. Others find it later.
it.each<[string, Sabotage, RegExp, number]>([
  [
    'model: finds that events are not committed together with the records (control)',
    eventsInASecondStep,
    /sequence/,
    150,
  ],
  ['model: finds that a page is committed as often as it is sent (control)', pagesCommittedTwice, /twice|tally/, 4],
  [
    'model: finds that a process writes after it has lost its lease (control)',
    noFencing,
    /twice|sequence|tally|invented|two ids|not reported/,
    500,
  ],
  ['model: finds that a removal is accepted after one sweep (control)', removalAtFirstSweep, /deleted/, 4],
  ['model: finds that held creations are never reported (control)', acceptanceIgnored, /missing/, 8],
])('model: controls %s', { timeout: 600_000 }, async (_what, sabotage, says, seed) => {
  let failure = null;
  for (let next = seed; failure === null && next < seed + 200; next += SHARDS)
    failure = await findFailure(redis, { lists: ['people', 'todo'], runs: 60, seed: next, sabotage });
  expect(failure?.violations.join('\n')).toMatch(says);
});
