/** Which events run after a crash, played without queues; and how a crash is told from a late process. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { packRun, runIn, type NotedRun } from '../../src/delivery/groups/group-entry.js';
import { judge, Suspects } from '../../src/delivery/suspects.js';
import { systemClock, type Clock } from '../../src/kit/clock.js';
import { createProcessRegistry } from '../../src/redis/process-registry.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const MOST_CRASHES = 3;
const atOnce: Clock = { ...systemClock, sleep: () => Promise.resolve() };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Each process takes all events that are left and runs them group by group, until the cause is in the group. */
async function played(inFlight: number, cause: number) {
  const runs = new Map<number, NotedRun>();
  for (let id = 0; id < inFlight; id += 1) runs.set(id, { process: 'p', lost: 0, among: 0, alone: 0, late: 0 });
  const dead: number[] = [];
  let crashes = 0;
  while (runs.size > 0) {
    crashes += 1;
    const suspects = new Suspects(atOnce);
    const begun: [id: number, run: NotedRun][] = [];
    for (const [id, run] of runs) {
      const { most, alone, late } = judge(runIn(packRun(run)), crashes, false);
      if (1 + alone >= MOST_CRASHES) dead.push(id);
      else
        void suspects
          .turn(most ?? 0, new AbortController().signal)
          .then((among) => begun.push([id, { process: 'p', lost: crashes, among, alone, late }]));
    }
    for (const id of dead) runs.delete(id);
    for (;;) {
      await settled();
      if (begun.length === 0) break;
      const group = begun.splice(0);
      if (group.some(([id]) => id === cause)) {
        for (const [id, run] of group) runs.set(id, run);
        break;
      }
      for (const [id] of group) runs.delete(id);
      for (const _ of group) suspects.ended();
    }
  }
  return { dead, crashes: crashes - 1 };
}

describe('suspects', () => {
  it.each([
    [1, 3],
    [2, 3],
    [10, 5],
    [200, 9],
    [1_000, 12],
  ])(
    'crash: of %i events in flight the cause is found after at most %i crashes, and no other dies',
    async (size, most) => {
      for (const cause of [0, Math.floor(size / 3), size - 1]) {
        const { dead, crashes } = await played(size, cause);
        expect(dead).toEqual([cause]);
        expect(crashes).toBeLessThanOrEqual(most);
      }
    },
  );

  it('crash: without the cause among them, all are handled', async () => {
    expect(await played(200, -1)).toEqual({ dead: [], crashes: 0 });
  });

  it('late: a lock that is lost by a process that lives makes no suspect, however often', () => {
    let run: NotedRun = { process: 'p', lost: 0, among: 0, alone: 0, late: 0 };
    for (let lost = 1; lost < 10; lost += 1) {
      const verdict = judge(run, lost, true);
      expect(verdict).toEqual({ last: 'late', most: null, alone: 0, late: lost });
      run = { ...run, lost, late: verdict.late };
    }
    expect(judge(run, run.lost, false)).toEqual({ last: 'ended', most: null, alone: 0, late: 0 });
  });
});

describe('a process on another machine', () => {
  const living = (ttlMs: number): Promise<unknown> =>
    test.redis.set(
      test.keys.alive('p'),
      JSON.stringify({ pid: 1, token: 't', host: `not ${hostname()}` }),
      'PX',
      ttlMs,
    );

  it('late: it lives when it gives another sign of life', async () => {
    await living(5_000);
    const answer = createProcessRegistry(test.redis, test.keys).lives('p');
    // The commands of one connection keep their order: it has been looked at once.
    await living(60_000);
    expect(await answer).toBe(true);
  });

  it('crash: it has crashed when it gives none', async () => {
    await living(700);
    expect(await createProcessRegistry(test.redis, test.keys).lives('p')).toBe(false);
  });

  it('late: a process of this machine lives for as long as it runs', async () => {
    const registry = createProcessRegistry(test.redis, test.keys);
    await registry.live('here', 5_000);
    expect(await registry.lives('here')).toBe(true);
    const ended = JSON.stringify({ pid: 2_147_483_600, token: 't', host: hostname() });
    await test.redis.set(test.keys.alive('ended'), ended, 'PX', 5_000);
    expect(await registry.lives('ended')).toBe(false);
  });
});
