/**
 * Sweeps a list in which everything changed, while ten stretches of unchanged records follow the log in the same process as in a service, and without
 * them. Afterwards the ten follow the rest of the log, which is timed apart.
 */
import { Redis } from 'ioredis';
import { builtInLists } from '../src/crm/lists/lists.js';
import type { Stretch } from '../src/events/unchanged.js';
import { tellUnchanged } from '../src/feed/unchanged/tell.js';
import { createUnchangedStore } from '../src/feed/unchanged/unchanged-store.js';
import { systemClock } from '../src/kit/clock.js';
import { createLogReader } from '../src/log/event-log.js';
import { Keys } from '../src/redis/keys.js';
import { atMost, type Bench } from './support/bench.js';
import { ours } from './support/ours.js';
import { withPages, withRedis } from './support/stage.js';
import { inTurns, median, rounded, type Timed } from './support/turns.js';

const DAY_MS = 86_400_000;
const FIELDS = ['담당자', '단계', '등급', '이름', '팀'];
const TURN_MS = 2_000;

/** Ten: of the record and of five fields, for several lengths. */
const STRETCHES: readonly Stretch[] = [7, 14, 21, 30, 60]
  .map((days): Stretch => ({ field: null, related: [], forMs: days * DAY_MS, days: 'calendar' }))
  .concat(FIELDS.map((field) => ({ field, related: [], forMs: 14 * DAY_MS, days: 'working' })));

export const absence: Bench = {
  name: 'absence',
  does: 'a sweep in which everything changed, with ten stretches of unchanged records that follow it, and without',
  records: [10_000],
  run: async ({ records: [records = 0], turns }) =>
    await withRedis(
      async (redis, url) =>
        await withPages(records, async (pages) => {
          const log = createLogReader({ redis, keys: new Keys('bench'), connect: () => new Redis(url) });
          const scope = { redis, keys: new Keys('bench'), workspace: 'with' };
          const of = { scope, store: createUnchangedStore(scope), log, clock: systemClock, timeZone: 'Asia/Seoul' };
          const asked = STRETCHES.map((stretch) => ({ list: 'people', stretch }));
          const tell = (): Promise<number> => tellUnchanged(asked, { ...of, lists: builtInLists });
          const both = [
            { ...ours({ url: pages.url, redis, workspace: 'with' }), name: 'with' },
            { ...ours({ url: pages.url, redis, workspace: 'without' }), name: 'without' },
          ];
          const [followed, plain] = both;
          if (followed === undefined || plain === undefined) throw new Error('two contestants');
          let under: Promise<void> = Promise.resolve();
          const following = {
            ...followed,
            sweep: async () => {
              const ended = new AbortController();
              under = follow(tell, ended.signal);
              return await followed.sweep().finally(() => ended.abort());
            },
          };
          const after: number[] = [];
          const before = async (): Promise<void> => {
            await pages.change('all', 1);
          };
          for (const one of both) await one.sweep();
          await tell();
          const rest = async (): Promise<void> => {
            await under;
            const startedAt = performance.now();
            await tell();
            after.push(performance.now() - startedAt);
          };
          const times = await inTurns([{ ...following, prepare: rest }, plain], { turns, records, before });
          await rest();
          for (const one of both) await one.close();
          const medianOf = (name: string, what: keyof Timed): number =>
            median((times.get(name) ?? []).map((one) => one[what]));
          const ratios = {
            'commit rate: with to without, wall': rounded(medianOf('with', 'ms') / medianOf('without', 'ms'), 2),
            'commit rate: with to without, processor': rounded(
              medianOf('with', 'cpuMs') / medianOf('without', 'cpuMs'),
              2,
            ),
          };
          return {
            median: rounded((records / medianOf('with', 'ms')) * 1_000, 0),
            unit: 'records/s',
            ratios,
            goals: { 'commit rate: with to without, wall': atMost(1.1) },
            facts: { records, stretches: STRETCHES.length, followingAfterMs: rounded(median(after.slice(1)), 0) },
          };
        }),
    ),
};

/** As the service does: a turn, and the next some seconds later. A turn that is under way at the end of a sweep belongs to the time after it. */
async function follow(tell: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await tell();
    await systemClock.sleep(TURN_MS, signal).catch(() => undefined);
  }
}
