/**
 * The preview of a rule over a log of 100,000 events of some 1.2 kB: when its first answer comes, how long the whole log takes, and the longest
 * time for which it keeps the process from anything else; where the type refuses, where a condition on a change or on a value does, and where all
 * are selected. Then what an event takes of Redis, and the commit of 50 events.
 *
 *     npm run bench -- try [--records 100000] [--turns 5]
 */
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { FIRST_ANSWER_MS, trySubscription, type TryCall } from '../src/delivery/ask/try.js';
import { compileWhere } from '../src/delivery/handlers/where.js';
import type { ChangeEvent } from '../src/events/types.js';
import { createSweepStore } from '../src/feed/store/sweep-store.js';
import { systemClock } from '../src/kit/clock.js';
import { Keys } from '../src/redis/keys.js';
import type { Redis } from '../src/redis/client.js';
import { appendEvents, changeEvent, WORKSPACE } from '../test/support/events.js';
import { aSubscription, fanOutDeps } from '../test/support/fan-out.js';
import { atMost, type Bench } from './support/bench.js';
import { person } from './support/person.js';
import { withRedis } from './support/stage.js';
import { median, rounded } from './support/turns.js';

const EVENTS = 100_000;
const COMMITTED = 50;
const COMMITS = 500;
const FIELDS = 10;
const GRADES = ['A', 'B', 'C', 'D'];
const CASES = {
  type: { on: ['crm.todo.*'] },
  condition: { on: ['crm.person.updated'], where: compileWhere({ 등급: { becomes: 'A' } }) },
  value: { on: ['crm.person.updated'], where: compileWhere({ 'after.등급': 'A' }) },
  everything: { on: ['crm.*'] },
} as const;

export const tryPreview: Bench = {
  name: 'try',
  does: 'the preview of a rule over 100,000 events, and the longest time for which the process does nothing else',
  records: [EVENTS],
  run: async ({ records: [total = EVENTS], turns }) =>
    await withRedis(async (redis) => {
      const keys = new Keys(`bench-${randomBytes(6).toString('hex')}`);
      for (let from = 0; from < total; from += 1_000)
        await appendEvents(
          { redis, keys },
          Array.from({ length: 1_000 }, (_, nth) => anEvent(from + nth)),
        );
      const redisBytes = Number(await redis.call('MEMORY', 'USAGE', keys.log(WORKSPACE), 'SAMPLES', '0'));
      const deps = { ...fanOutDeps({ redis, keys, connect: () => redis }), workspaces: [WORKSPACE] };
      const shapes: Record<
        string,
        { firstMs: number; ms: number; cpuMs: number; selected: number; longestMs: number }
      > = {};
      for (const [name, options] of Object.entries(CASES)) {
        const subscription = aSubscription('ops', () => undefined, options);
        const ask = async (call: TryCall) => await trySubscription(call, { ...deps, subscription });
        const first = await timed(turns, () => ask({ signal: AbortSignal.timeout(FIRST_ANSWER_MS) }));
        const delay = monitorEventLoopDelay({ resolution: 1 });
        delay.enable();
        const whole = await timed(turns, () => ask({}));
        delay.disable();
        const { selected } = await ask({});
        shapes[name] = { firstMs: first.ms, ...whole, selected, longestMs: rounded(delay.max / 1e6, 0) };
      }
      const worst = Math.max(...Object.values(shapes).map(({ firstMs }) => firstMs));
      const bytes = Math.round(Buffer.byteLength(JSON.stringify(anEvent(0))));
      return {
        ...{ median: worst, unit: 'ms', ratios: { 'of 1 s': rounded(worst / 1_000, 2) } },
        goals: { 'of 1 s': atMost(1) },
        facts: {
          shapes,
          bytes,
          redisBytes: Math.round(redisBytes / total),
          commitCpuMs: await commitCpuMs(redis, keys),
        },
      };
    }),
};

async function timed(turns: number, run: () => Promise<unknown>): Promise<{ ms: number; cpuMs: number }> {
  const took: number[] = [];
  const used = process.cpuUsage();
  for (let turn = 0; turn < turns; turn += 1) {
    const startedMs = systemClock.monotonic();
    await run();
    took.push(systemClock.monotonic() - startedMs);
  }
  const { user, system } = process.cpuUsage(used);
  return { ms: rounded(median(took), 0), cpuMs: rounded((user + system) / 1_000 / turns, 0) };
}

/** The processor time of a commit of 50 events, with that of Redis; the mean of many. */
async function commitCpuMs(redis: Redis, keys: Keys): Promise<number> {
  const store = createSweepStore(redis, keys, WORKSPACE);
  const lease = await store.acquire('people', 600_000);
  if (lease.outcome !== 'acquired') throw new Error('The lease is held.');
  const { token } = lease;
  const commits = Array.from({ length: COMMITS }, (_, turn) =>
    Array.from({ length: COMMITTED }, (_one, nth) => anEvent(turn * COMMITTED + nth)),
  );
  const before = await processorMs(redis);
  for (const events of commits) await store.commit('people', { token, writes: [], events });
  return rounded(((await processorMs(redis)) - before) / COMMITS);
}

/** Of this process and of Redis. */
async function processorMs(redis: Redis): Promise<number> {
  const ofRedis = [...(await redis.info('cpu')).matchAll(/used_cpu_(?:user|sys):([\d.]+)/g)];
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + ofRedis.reduce((sum, [, seconds]) => sum + Number(seconds) * 1_000, 0);
}

function anEvent(nth: number): ChangeEvent {
  const [before, after] = [GRADES[nth % 4], GRADES[(nth + 1) % 4]];
  const { data, ...event } = changeEvent({ record: `person-${nth % 5_000}`, sequence: nth });
  const image = { ...Object.fromEntries(Object.entries(person(nth % 5_000)).slice(0, FIELDS)), id: event.subject };
  const images = { before: { ...image, 등급: before }, after: { ...image, 등급: after } };
  return { ...event, data: { ...data, ...images, changes: [{ field: '등급', before, after }] } };
}
