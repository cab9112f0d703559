/** Bytes of Redis memory per record; compared with the JSON of each record in a string. */
import type { Redis } from 'ioredis';
import { atMost, type Bench } from './support/bench.js';
import { ours } from './support/ours.js';
import { person } from './support/person.js';
import { withPages, withRedis } from './support/stage.js';
import { rounded } from './support/turns.js';

const BATCH = 1_000;

export const memory: Bench = {
  name: 'memory',
  does: 'bytes of Redis memory per record',
  records: [100_000],
  run: async ({ records: [records = 0] }) => {
    const { bytes: images, keys } = await used(records, sweepTwice);
    const { bytes: strings } = await used(records, (redis) => writeStrings(redis, records));
    return {
      median: images,
      unit: 'bytes per record',
      ratios: { bytes: images, 'JSON strings to records': rounded(strings / images) },
      goals: { bytes: atMost(600) },
      facts: {
        records,
        keys,
        jsonStrings: strings,
        jsonBytes: Buffer.byteLength(JSON.stringify(person(records))),
      },
    };
  },
};

interface Used {
  /** Per record. */
  bytes: number;
  /** Bytes of the largest keys, per record. */
  keys: Record<string, number>;
}

async function used(records: number, fill: (redis: Redis, url: string) => Promise<void>): Promise<Used> {
  return await withRedis(
    async (redis) =>
      await withPages(records, async ({ url }) => {
        const before = await usedBytes(redis);
        await fill(redis, url);
        const bytes = rounded(((await usedBytes(redis)) - before) / records, 1);
        return { bytes, keys: await largestKeys(redis, records) };
      }),
  );
}

/** The second sweep leaves nothing behind that only the first one needs. */
async function sweepTwice(redis: Redis, url: string): Promise<void> {
  const changefeed = ours({ url, redis });
  for (let sweep = 0; sweep < 2; sweep += 1) await changefeed.sweep();
  await changefeed.close();
}

async function largestKeys(redis: Redis, records: number): Promise<Record<string, number>> {
  const names = await redis.keys('bench:*');
  const sizes = await Promise.all(
    names.map(async (name) => {
      const bytes = await redis.memory('USAGE', name, 'SAMPLES', 0);
      return [name, rounded((bytes ?? 0) / records, 1)] as const;
    }),
  );
  return Object.fromEntries(sizes.filter(([, size]) => size >= 1).sort(([, one], [, other]) => other - one));
}

async function writeStrings(redis: Redis, records: number): Promise<void> {
  for (let from = 0; from < records; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, records - from) }, (_, nth) => person(from + nth));
    await redis.mset(batch.flatMap((record) => [`image:${record.id}`, JSON.stringify(record)]));
  }
}

/** The memory without that of connections, whose buffers come and go. */
async function usedBytes(redis: Redis): Promise<number> {
  const info = await redis.info('memory');
  return Number(/used_memory_dataset:(\d+)/.exec(info)?.[1] ?? 0);
}
