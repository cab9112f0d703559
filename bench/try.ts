/**
 * The preview of a rule over a log of 100,000 events: where the type refuses, where a condition on a change or on a value does,
 * and where all are selected; and the longest time for which it keeps the process from anything else.
 *
 *     npm run bench -- try [--records 100000] [--turns 5]
 */
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { trySubscription } from '../src/delivery/try.js';
import { compileWhere } from '../src/delivery/handlers/where.js';
import { systemClock } from '../src/kit/clock.js';
import { Keys } from '../src/redis/keys.js';
import type { Redis } from '../src/redis/client.js';
import { changeEvent, WORKSPACE } from '../test/support/events.js';
import { aSubscription, fanOutDeps } from '../test/support/fan-out.js';
import { atMost, type Bench } from './support/bench.js';
import { person } from './support/person.js';
import { withRedis } from './support/stage.js';
import { rounded } from './support/turns.js';

const EVENTS = 100_000;
const AT_ONCE = 500;
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
      const bytes = await fill(redis, keys, total);
      const deps = { ...fanOutDeps({ redis, keys, connect: () => redis }), workspaces: [WORKSPACE] };
      const shapes: Record<string, { ms: number; cpuMs: number; selected: number; longestMs: number }> = {};
      for (const [name, options] of Object.entries(CASES)) {
        const took: number[] = [];
        let selected = 0;
        const delay = monitorEventLoopDelay({ resolution: 1 });
        delay.enable();
        const used = process.cpuUsage();
        for (let turn = 0; turn < turns; turn += 1) {
          const startedMs = systemClock.monotonic();
          const subscription = aSubscription('ops', () => undefined, options);
          selected = (await trySubscription({}, { ...deps, subscription })).selected;
          took.push(systemClock.monotonic() - startedMs);
        }
        delay.disable();
        const { user, system } = process.cpuUsage(used);
        const ms = took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0;
        const cpuMs = rounded((user + system) / 1_000 / turns, 0);
        shapes[name] = { ms: rounded(ms, 0), cpuMs, selected, longestMs: rounded(delay.max / 1e6, 0) };
      }
      const worst = Math.max(...Object.values(shapes).map(({ ms }) => ms));
      return {
        ...{ median: worst, unit: 'ms', ratios: { 'of 1 s': rounded(worst / 1_000, 2) } },
        goals: { 'of 1 s': atMost(1) },
        facts: { shapes, bytes: Math.round(bytes / total) },
      };
    }),
};

async function fill(redis: Redis, keys: Keys, total: number): Promise<number> {
  let bytes = 0;
  for (let from = 0; from < total; from += AT_ONCE) {
    const pipeline = redis.pipeline();
    for (let nth = from; nth < from + AT_ONCE; nth += 1) {
      const [before, after] = [GRADES[nth % 4], GRADES[(nth + 1) % 4]];
      const { data, ...event } = changeEvent({ record: `person-${nth % 5_000}`, sequence: nth });
      const image = { ...person(nth % 5_000), id: event.subject };
      const images = { before: { ...image, 등급: before }, after: { ...image, 등급: after } };
      const json = JSON.stringify({
        ...event,
        data: { ...data, ...images, changes: [{ field: '등급', before, after }] },
      });
      bytes += Buffer.byteLength(json);
      pipeline.xadd(keys.log(WORKSPACE), '*', 'event', json);
    }
    await pipeline.exec();
  }
  return bytes;
}
