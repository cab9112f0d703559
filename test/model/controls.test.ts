import { describe, expect, it } from 'vitest';
import type { SweepStore } from '../../src/sweep/store.js';
import { useRedis } from '../support/redis.js';
import { manyRuns } from './model.js';
import type { Sabotage } from './run.js';

/** Records and checkpoint first, their events in a second step. */
const eventsInAStepOfTheirOwn: Sabotage = {
  store: (store) => ({
    ...store,
    async commitPage(list, commit) {
      const events = commit.writes.flatMap(({ event }) => event ?? []);
      const writes = commit.writes.map((write) => ({ ...write, event: null }));
      const result = await store.commitPage(list, { ...commit, writes });
      const { token, checkpoint, summary } = commit;
      if (events.length > 0) await store.commitPage(list, { token, checkpoint, summary, writes: [], events });
      return result;
    },
  }),
};

/** What a retry of our own would do, without the name of the step. */
const everyPageTwice: Sabotage = {
  store: (store) => ({
    ...store,
    async commitPage(list, commit) {
      await store.commitPage(list, commit);
      return await store.commitPage(list, commit);
    },
  }),
};

/** Whoever writes is taken for the holder of the lease. */
const noFencing: Sabotage = {
  store: (store, { redis, keys, workspace }) => {
    const seize: SweepStore['release'] = async (list, token) => {
      await redis.set(keys.lease(workspace, list), token);
    };
    return {
      ...store,
      commitPage: async (list, commit) => (await seize(list, commit.token), await store.commitPage(list, commit)),
      commitRemovals: async (list, commit) => (
        await seize(list, commit.token),
        await store.commitRemovals(list, commit)
      ),
      promotePages: async (list, pages) => (await seize(list, pages.token), await store.promotePages(list, pages)),
      renew: () => Promise.resolve(true),
    };
  },
};

const noSecondLook: Sabotage = {
  options: (options) => ({ ...options, removals: { confirm: 1, maxShare: 0.2, maxCount: 10 } }),
};

/** What a part of a page has shown is forgotten when the page is read again. */
const partsWithoutMembers: Sabotage = {
  options: (options) => ({ ...options, recordsPerPart: 2 }),
  store: (store) => ({
    ...store,
    async commitPage(list, commit) {
      const isPart = (commit.members?.page ?? 1) < 0;
      return await store.commitPage(list, isPart ? { ...commit, members: null } : commit);
    },
  }),
};

/** What a person accepts does not come to the sweep's notice. */
const deafToPeople: Sabotage = {
  store: (store) => ({ ...store, creationsAcceptedAt: () => Promise.resolve(null) }),
};

describe('the model finds out (controls)', () => {
  const redis = useRedis();

  it.each([
    ['that events are not written in one step with the records', eventsInAStepOfTheirOwn, /sequence/],
    ['that a page takes effect as often as it is sent', everyPageTwice, /twice|tally/],
    ['that a process writes after it has lost its lease', noFencing, /twice|sequence|tally|invented|two ids/],
    ['that a removal is believed at first sight', noSecondLook, /deleted/],
    ['that the members of a part of a page are not kept', partsWithoutMembers, /known records.*too many/],
    ['that new records which were held are never reported', deafToPeople, /missing/],
  ])('%s', { timeout: 600_000 }, async (_what, sabotage, says) => {
    const failure = await manyRuns(redis, { lists: ['people', 'todo'], runs: 1_500, seed: 1, sabotage });
    expect(failure?.wrongs.join('\n')).toMatch(says);
  });
});
