/** Bytes of Redis memory per record: digests only, and with images; compared with the JSON of each record in a string. */
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
    const digests = await used(records, (redis, url) => sweepTwice(redis, url, { images: false }));
    const images = await used(records, (redis, url) => sweepTwice(redis, url, { images: true }));
    const strings = await used(records, (redis) => writeStrings(redis, records));
    return {
      median: digests,
      unit: 'bytes per record, digests only',
      ratios: {
        'digests only, bytes': digests,
        'with images, bytes': images,
        'JSON strings to digests': rounded(strings / digests),
        'JSON strings to images': rounded(strings / images),
      },
      goals: { 'digests only, bytes': atMost(90), 'with images, bytes': atMost(500) },
      facts: { records, jsonStrings: strings, jsonBytes: Buffer.byteLength(JSON.stringify(person(records))) },
    };
  },
};

async function used(records: number, fill: (redis: Redis, url: string) => Promise<void>): Promise<number> {
  return await withRedis(
    async (redis) =>
      await withPages(records, async ({ url }) => {
        const before = await usedBytes(redis);
        await fill(redis, url);
        return rounded(((await usedBytes(redis)) - before) / records, 1);
      }),
  );
}

/** The second sweep leaves nothing behind that only the first one needs. */
async function sweepTwice(redis: Redis, url: string, { images }: { images: boolean }): Promise<void> {
  const changefeed = ours({ url, redis, images });
  for (let sweep = 0; sweep < 2; sweep += 1) await changefeed.sweep();
  await changefeed.close();
}

async function writeStrings(redis: Redis, records: number): Promise<void> {
  for (let from = 0; from < records; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, records - from) }, (_, nth) => person(from + nth));
    await redis.mset(batch.flatMap((record) => [`image:${record.id}`, JSON.stringify(record)]));
  }
}

/** Without the memory of connections, whose buffers come and go. */
async function usedBytes(redis: Redis): Promise<number> {
  const info = await redis.info('memory');
  return Number(/used_memory_dataset:(\d+)/.exec(info)?.[1] ?? 0);
}
