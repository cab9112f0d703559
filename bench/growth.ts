/** Whether the cost of a sweep per record, and its memory, stay the same as the list grows. Nothing changes. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, type Bench, type Flags } from './support/bench.js';
import { ours } from './support/ours.js';
import { withPages, withRedis } from './support/stage.js';
import type { ChildReport } from './support/sweep-child.js';
import { median, rounded } from './support/turns.js';

interface Size {
  records: number;
  usPerRecord: number;
  peakRssMb: number;
}

export const growth: Bench = {
  name: 'growth',
  does: 'unchanged lists of several sizes: time per record and resident memory',
  records: [10_000, 100_000, 1_000_000],
  run: async (flags) => {
    const sizes: Size[] = [];
    for (const records of flags.records) sizes.push(await measure(records, flags));
    const times = sizes.map(({ usPerRecord }) => usPerRecord);
    const memory = sizes.map(({ peakRssMb }) => peakRssMb);
    return {
      median: rounded(median(times)),
      unit: 'µs per record',
      ratios: {
        'time per record, last to first': rounded((times.at(-1) ?? 0) / (times[0] ?? 1)),
        'memory, last to first': rounded((memory.at(-1) ?? 0) / (memory[0] ?? 1)),
        'peak resident MB': Math.max(...memory),
      },
      goals: {
        'time per record, last to first': atMost(1.15),
        'memory, last to first': atMost(1.15),
        'peak resident MB': atMost(200),
      },
      facts: { sizes, turns: flags.turns },
    };
  },
};

/** The baseline is taken by this process, the sweeps by a new one. */
async function measure(records: number, { turns, warmUp }: Flags): Promise<Size> {
  return await withRedis(
    async (redis, redisUrl) =>
      await withPages(records, async ({ url }) => {
        const first = ours({ url, redis });
        await first.sweep();
        await first.close();
        const script = fileURLToPath(new URL(`./support/sweep-child${extname(import.meta.url)}`, import.meta.url));
        const child = fork(script, [url, redisUrl, String(turns), String(warmUp)]);
        const [{ ms, peakRssMb }] = (await once(child, 'message')) as [ChildReport];
        return { records, usPerRecord: rounded((median(ms) * 1_000) / records), peakRssMb };
      }),
  );
}
